import { queryOptions } from '@tanstack/react-query'
import { client } from '../client.ts'

/** The user's company with its settings. */
export const companyQuery = queryOptions({
  queryKey: ['company'],
  queryFn: ({ signal }) => client.readCompany({}, { signal }),
})
