import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { client } from '../../client.ts'
import { useMay, useProfile } from '../../data/profile.ts'
import { useTexts } from '../../texts/texts.ts'
import { toast } from '../../ui/toast.tsx'
import type { SavedQuery } from './saved-queries.ts'
import { saved } from './texts.ts'

/** Whether the user may change it: who saved it, its owner, and who manages statistics. */
export function useMayChange(query: Pick<SavedQuery, 'createdBy' | 'ownerId'> | undefined): boolean {
  const userId = useProfile()?.id
  const mayManage = useMay('statistics:manage')
  return mayManage || (userId !== undefined && (query?.createdBy === userId || query?.ownerId === userId))
}

/** After a change every list and page shows it. */
export function useForget(): () => Promise<unknown> {
  const queries = useQueryClient()
  return () =>
    Promise.all(
      ['saved-queries', 'saved-query', 'saved-query-runs'].map((key) =>
        queries.invalidateQueries({ queryKey: [key] }),
      ),
    )
}

export function useRunNow() {
  const t = useTexts(saved)
  const forget = useForget()
  return useMutation({
    mutationFn: (id: string) => client.runSavedQuery({ params: { id } }),
    onSuccess: async () => {
      toast.say(t.started)
      await forget()
    },
    onError: (error) => toast.fail(error.message),
  })
}

/** Deletes at once; undoing saves the same again, without the ledger of its runs. */
export function useDelete({ leaves = false } = {}) {
  const t = useTexts(saved)
  const navigate = useNavigate()
  const forget = useForget()
  const restore = useMutation({
    mutationFn: ({ name, queries, schedule }: SavedQuery) =>
      client.saveQuery({ body: { name, queries, schedule } }),
    onSuccess: async () => {
      toast.say(t.restored)
      await forget()
    },
    onError: (error) => toast.fail(error.message),
  })
  return useMutation({
    mutationFn: ({ id }: SavedQuery) => client.deleteSavedQuery({ params: { id } }),
    onSuccess: async (_, query) => {
      toast.undo(t.deleted(query.name), () => restore.mutate(query))
      if (leaves) await navigate({ to: '/saved' })
      await forget()
    },
    onError: (error) => toast.fail(error.message),
  })
}
