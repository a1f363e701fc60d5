import { useState } from 'react'
import { useMay } from '../data/profile.ts'
import type { Comparison } from '../data/ranges.ts'
import type { Answer } from '../data/statistics.ts'
import { type RangeState, useSetView } from '../data/view-state.ts'
import { analysis } from '../texts/analysis.ts'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { IconButton } from '../ui/button.tsx'
import { CopyAs } from '../ui/copy-as.tsx'
import { Select } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { RangePicker } from '../ui/range-picker.tsx'
import { toast } from '../ui/toast.tsx'
import styles from './exploration.module.css'
import { csvOf, type Exploration } from './rows.ts'
import type { Left } from './selection.ts'
import { words } from './texts.ts'

/** Range and, where the exploration has it, comparison: at the head of the screen. */
export function RangeActions({
  range,
  isCompared = false,
}: {
  readonly range: RangeState
  readonly isCompared?: boolean
}) {
  const say = useTexts(analysis)
  const setView = useSetView()
  return (
    <>
      {isCompared && (
        <Select
          label={say.comparison}
          hidesLabel
          options={(['none', 'previous', 'year'] as const).map((id) => ({ id, label: say.comparisons[id] }))}
          value={range.comparison}
          onChange={(compare: Comparison) => setView({ compare: compare === 'none' ? undefined : compare })}
        />
      )}
      <RangePicker value={range.range} today={range.today} onChange={(next) => setView({ range: next })} />
    </>
  )
}

/** What the result can be taken away as. */
export function TakeAway({ asked, name }: { readonly asked: Exploration; readonly name: string }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const mayExport = useMay('statistics:export')
  const [isBusy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    try {
      const url = URL.createObjectURL(await csvOf(asked))
      const link = Object.assign(document.createElement('a'), { href: url, download: `${name}.csv` })
      link.click()
      URL.revokeObjectURL(url)
    } catch (error) {
      toast.fail(error instanceof Error ? error.message : say.failed)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {mayExport && (
        <IconButton icon="download" label={t.csv} isDisabled={isBusy} onPress={() => void download()} />
      )}
      <CopyAs call={{ operation: asked.operation, request: { body: asked.body } as never }} />
    </>
  )
}

/** What of the address is not shown, and what the service says of its answer. */
export function Notices({
  left,
  warnings = [],
}: {
  readonly left: Left
  readonly warnings?: Answer['warnings'] | undefined
}) {
  const t = useTexts(words)
  const lines = [
    ...(left.length > 0 ? [t.leftOut([...new Set(left)].join(', '))] : []),
    ...warnings.map(({ message }) => message),
  ]
  if (lines.length === 0) return null
  return (
    <div role="status" className={styles.notices}>
      {lines.map((line) => (
        <p key={line} className={styles.notice}>
          <Icon name="warning" size={16} />
          <span dir="auto">{line}</span>
        </p>
      ))}
    </div>
  )
}
