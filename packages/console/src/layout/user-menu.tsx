import { useNavigate } from '@tanstack/react-router'
import { useProfile, useUpdateProfile } from '../data/profile.ts'
import { session } from '../session/session.ts'
import { useTexts } from '../texts/texts.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { places } from './destinations.ts'
import styles from './user-menu.module.css'

export type Theme = 'light' | 'dark' | 'system'

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
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
