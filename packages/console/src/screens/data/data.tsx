import { useMay } from '../../data/profile.ts'
import { useView } from '../../data/view-state.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/state.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { ConsentTab } from './consent-tab.tsx'
import { DeletedTab } from './deleted-tab.tsx'
import { ExportsTab } from './exports-tab.tsx'
import { PersonTab } from './person-tab.tsx'
import { RetentionTab } from './retention-tab.tsx'
import { words } from './texts.ts'

const tabs = {
  retention: RetentionTab,
  consent: ConsentTab,
  person: PersonTab,
  exports: ExportsTab,
  deleted: DeletedTab,
} as const
const ids = Object.keys(tabs) as (keyof typeof tabs)[]

export function Screen() {
  const t = useTexts(words)
  const say = useTexts(common)
  const { tab } = useView()
  const may = {
    retention: useMay('company:read'),
    consent: useMay('datasource:read'),
    person: useMay('company:update'),
    exports: useMay('statistics:export'),
    deleted: useMay('datasource:delete'),
  }
  const shown = ids.filter((id) => may[id])
  const current = shown.find((each) => each === tab) ?? shown[0]
  const Tab = current && tabs[current]
  return (
    <Page title={t.title} lead={t.lead}>
      {current && (
        <Tabs label={t.title} tabs={shown.map((id) => ({ id, label: t.tabs[id] }))} current={current} />
      )}
      {Tab ? <Tab /> : <Empty icon="shield" title={say.forbidden} />}
    </Page>
  )
}
