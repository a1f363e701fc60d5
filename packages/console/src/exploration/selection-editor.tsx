import { Button as AriaButton } from 'react-aria-components'
import { useTexts } from '../texts/texts.ts'
import field from '../ui/field.module.css'
import { Icon } from '../ui/icon.tsx'
import { PopoverButton } from '../ui/popover.tsx'
import { ConditionChips, type IsOffered } from './condition-editor.tsx'
import styles from './exploration.module.css'
import { type Selection, selectionOf } from './selection.ts'
import { words } from './texts.ts'
import { ValuesList } from './values-list.tsx'

export const useSelectionName = (): ((selection: Selection) => string) => {
  const t = useTexts(words)
  return ({ events }) => (events ? events.join(t.or) : t.anyEvent)
}

/** Which events count as a step, as a first or a returning event: names by search, and filters. */
export function SelectionEditor({
  label,
  selection,
  onChange,
  isOffered,
}: {
  readonly label: string
  readonly selection: Selection
  readonly onChange: (selection: Selection) => void
  readonly isOffered?: IsOffered | undefined
}) {
  const t = useTexts(words)
  const nameOf = useSelectionName()
  const { events = [], filters = [] } = selection
  return (
    <div className={styles.selection}>
      <PopoverButton
        label={label}
        trigger={
          <AriaButton className={field.trigger ?? ''} aria-label={`${label}: ${nameOf(selection)}`}>
            <span className={field.value} dir="auto">
              {nameOf(selection)}
            </span>
            <Icon name="down" size={14} />
          </AriaButton>
        }
      >
        <ValuesList
          label={t.searchEvents}
          member="events.name"
          chosen={events}
          onChange={(next) => onChange(selectionOf(next, filters))}
        />
      </PopoverButton>
      <ConditionChips
        conditions={filters}
        isOffered={isOffered}
        onChange={(next) => onChange(selectionOf(events, next))}
      />
    </div>
  )
}
