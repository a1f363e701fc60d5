import { Button as AriaButton } from 'react-aria-components'
import type { Meta } from '../../data/format.ts'
import { titleOf } from '../../data/result.ts'
import { useMeta } from '../../data/statistics.ts'
import { ConditionChips } from '../../exploration/condition-editor.tsx'
import styles from '../../exploration/exploration.module.css'
import { type Condition, conditionsBody } from '../../exploration/selection.ts'
import { words as say } from '../../exploration/texts.ts'
import { useTexts } from '../../texts/texts.ts'
import { isLeaf, memberOf } from '../../tiles/filters.ts'
import type { Filter } from '../../tiles/tile.ts'
import { Icon } from '../../ui/icon.tsx'
import { words } from './texts.ts'

const isOffered = (meta: Meta, member: string): boolean => {
  const known = meta.dimensions[member]
  return known !== undefined && known.type !== 'time'
}

/** A group of filters as a sentence. */
function useSentence(): (filter: Filter) => string {
  const t = useTexts(words)
  const { operators } = useTexts(say)
  const meta = useMeta().data
  const sentence = (filter: Filter): string => {
    if (!isLeaf(filter))
      return (filter.and ?? filter.or ?? []).map(sentence).join(` ${filter.and ? t.and : t.or} `)
    const values = (filter.values ?? []).join(', ')
    return `${titleOf(meta, memberOf(filter))} ${operators[filter.operator]} ${values}`.trim()
  }
  return sentence
}

/** The shared filters, each to be changed or removed, and a way to add one. Groups, made elsewhere, can be removed. */
export function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: readonly Filter[]
  readonly onChange: (filters: readonly Filter[]) => void
}) {
  const t = useTexts(words)
  const { removeFilter } = useTexts(say)
  const sentence = useSentence()
  const groups = filters.filter((filter) => !isLeaf(filter))
  const conditions = filters
    .filter(isLeaf)
    .map(
      (leaf): Condition => ({ member: memberOf(leaf), operator: leaf.operator, values: leaf.values ?? [] }),
    )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is of a form
    <div role="group" className={styles.chips} aria-label={t.filters}>
      {groups.map((group) => (
        <span key={JSON.stringify(group)} className={styles.chip}>
          <span className={styles.chipText} dir="auto">
            {sentence(group)}
          </span>
          <AriaButton
            className={styles.chipRemove ?? ''}
            aria-label={removeFilter(sentence(group))}
            onPress={() => onChange(filters.filter((each) => each !== group))}
          >
            <Icon name="close" size={12} />
          </AriaButton>
        </span>
      ))}
      <ConditionChips
        conditions={conditions}
        isOffered={isOffered}
        onChange={(next) => onChange([...groups, ...conditionsBody(next)])}
      />
    </div>
  )
}
