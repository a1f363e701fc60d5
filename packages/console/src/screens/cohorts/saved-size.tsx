import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { SizeFigure } from './rule-size.tsx'

/** How many persons a saved cohort has. */
export function SavedSize({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ['cohort-people', id, 'size'],
    queryFn: ({ signal }) => client.readCohortSize({ params: { id } }, { signal }),
  })
  return (
    <Loaded query={query} skeleton={<Skeleton lines={2} />}>
      {({ people, identified }) => <SizeFigure people={people} identified={identified} />}
    </Loaded>
  )
}
