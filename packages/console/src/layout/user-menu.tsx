import type { OperationRequest } from '@millrace/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { client } from '../client.ts'
import { profileQuery, useProfile } from '../data/profile.ts'
import { session } from '../session/session.ts'
import { useTexts } from '../texts/texts.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { toast } from '../ui/toast.tsx'
import { places } from './destinations.ts'
import styles from './user-menu.module.css'

export type Theme = 'light' | 'dark' | 'system'

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Changes the profile, at once on the screen, and back where the service refuses. */
export function useUpdateProfile() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: OperationRequest<'updateProfile'>['body']) => client.updateProfile({ body }),
    onMutate: (change) => {
      const before = queries.getQueryData(profileQuery.queryKey)
      queries.setQueryData(profileQuery.queryKey, (old) => old && ({ ...old, ...change } as typeof old))
      return { before }
    },
    onSuccess: (profile) => queries.setQueryData(profileQuery.queryKey, profile),
    onError: (error, _, context) => {
      queries.setQueryData(profileQuery.queryKey, context?.before)
      toast.fail(error.message)
    },
  })
}

export function UserMenu() {
  const t = useTexts(places)
  const profile = useProfile()
  const navigate = useNavigate()
  const update = useUpdateProfile()
  if (!profile) return null
  const name = [profile.firstName, profile.lastName].filter(Boolean).join(' ') || profile.email
  const theme = (value: Theme, label: string) => ({
    id: value,
    label: `${t.theme}: ${label}`,
    icon: 'sun' as const,
    onAction: () => update.mutate({ theme: value }),
  })
  return (
    <div className={styles.user}>
      <Menu
        label={t.account}
        trigger={
          <Button kind="quiet" icon="account">
            <span className={styles.name} dir="auto">
              {name}
            </span>
          </Button>
        }
        entries={[
          {
            id: 'account',
            label: t.account,
            icon: 'account',
            onAction: () => void navigate({ to: '/account' }),
          },
          theme('system', t.system),
          theme('light', t.light),
          theme('dark', t.dark),
          { id: 'sign-out', label: t.signOut, icon: 'signOut', onAction: () => void session.signOut() },
        ]}
      />
      <IconButton icon="signOut" label={t.signOut} onPress={() => void session.signOut()} />
    </div>
  )
}
