import { useQuery } from '@tanstack/react-query'
import { profileQuery } from '../../data/profile.ts'
import { useView } from '../../data/view-state.ts'
import { useTexts } from '../../texts/texts.ts'
import { Page } from '../../ui/page.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Applications } from './applications.tsx'
import { LinkedAccounts } from './linked-accounts.tsx'
import { ProfileTab } from './profile-tab.tsx'
import { SecurityTab } from './security-tab.tsx'
import { Sessions } from './sessions.tsx'
import { words } from './texts.ts'

const tabs = {
  profile: ProfileTab,
  security: SecurityTab,
  sessions: Sessions,
  links: LinkedAccounts,
  applications: Applications,
} as const
const ids = Object.keys(tabs) as (keyof typeof tabs)[]

export function Screen() {
  const t = useTexts(words)
  const { tab } = useView()
  const profile = useQuery(profileQuery)
  const current = ids.find((each) => each === tab) ?? 'profile'
  const Tab = tabs[current]
  return (
    <Page title={t.title} lead={profile.data && <span dir="auto">{profile.data.email}</span>}>
      <Tabs label={t.title} tabs={ids.map((id) => ({ id, label: t.tabs[id] }))} current={current} />
      <Loaded query={profile} skeleton={<Skeleton lines={6} />}>
        {(known) => <Tab profile={known} />}
      </Loaded>
    </Page>
  )
}
