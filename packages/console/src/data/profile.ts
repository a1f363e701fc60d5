import type { OperationData } from '@millrace/sdk'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { client } from '../client.ts'

export type Profile = OperationData<'readProfile'>
export type Permission = Profile['permissions'][number]

export const profileQuery = queryOptions({
  queryKey: ['profile'],
  queryFn: ({ signal }) => client.readProfile({}, { signal }),
})

export const useProfile = (): Profile | undefined => useQuery(profileQuery).data

/** Whether the user's role allows this; what it does not allow is not shown. */
export const useMay = (permission: Permission): boolean =>
  useProfile()?.permissions.includes(permission) ?? false
