import type { OperationData, OperationRequest } from '@millrace/sdk'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { client } from '../client.ts'
import { toast } from '../ui/toast.tsx'
import { profileKey } from './query-client.ts'

export type Profile = OperationData<'readProfile'>
export type Permission = Profile['permissions'][number]
export type ProfileChange = NonNullable<OperationRequest<'updateProfile'>['body']>

export const profileQuery = queryOptions({
  queryKey: profileKey,
  queryFn: ({ signal }) => client.readProfile({}, { signal }),
})

export const useProfile = (): Profile | undefined => useQuery(profileQuery).data

/** Whether the user's role allows this; what it does not allow is not shown. */
export const useMay = (permission: Permission): boolean =>
  useProfile()?.permissions.includes(permission) ?? false

/** Changes the profile, at once on the screen, and back where the service refuses. */
export function useUpdateProfile() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: ProfileChange) => client.updateProfile({ body }),
    onMutate: async (change) => {
      // An answer that is on its way would bring the former state back.
      await queries.cancelQueries(profileQuery)
      const before = queries.getQueryData(profileQuery.queryKey)
      queries.setQueryData(
        profileQuery.queryKey,
        (old) =>
          old &&
          ({ ...old, ...change, preferences: { ...old.preferences, ...change.preferences } } as Profile),
      )
      return { before }
    },
    onSuccess: (profile) => queries.setQueryData(profileQuery.queryKey, profile),
    onError: (error, _, context) => {
      queries.setQueryData(profileQuery.queryKey, context?.before)
      toast.fail(error.message)
    },
  })
}
