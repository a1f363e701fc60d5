import { type BinaryFilter, type Filter, isGroup, memberOf } from '../../data/filters.ts'
import type { Meta } from '../../data/format.ts'
import { useMeta } from '../../data/statistics.ts'
import { Chip, ConditionChips, useSentence } from '../../exploration/condition-editor.tsx'
import styles from '../../exploration/exploration.module.css'
import { type Condition, conditionsBody } from '../../exploration/selection.ts'
import { useTexts } from '../../texts/texts.ts'
import { words } from './texts.ts'

const isOffered = (meta: Meta, member: string): boolean => {
  const type = meta.dimensions[member]?.type
  return type !== undefined && type !== 'time'
}

const conditionOf = (leaf: BinaryFilter): Condition => ({
  member: memberOf(leaf),
  operator: leaf.operator,
  values: leaf.values ?? [],
})

/**
 * The shared filters: conditions on dimensions can be added and changed. Groups, times and measures come from an
 * address or the interface; they are said and can be removed.
 */
export function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: readonly Filter[]
  readonly onChange: (filters: readonly Filter[]) => void
}) {
  const t = useTexts(words)
  const meta = useMeta().data
  const sentence = useSentence()
  const textOf = (filter: Filter): string =>
    !isGroup(filter)
      ? sentence(conditionOf(filter))
      : (filter.and ?? filter.or ?? []).map(textOf).join(` ${filter.and ? t.and : t.or} `)
  const isChangeable = (filter: Filter): filter is BinaryFilter =>
    !isGroup(filter) && meta !== undefined && isOffered(meta, memberOf(filter))
  const others = filters.filter((filter) => !isChangeable(filter))
  return (
    <section className={styles.chips} aria-label={t.filters}>
      {others.map((filter) => (
        <Chip
          key={JSON.stringify(filter)}
          text={textOf(filter)}
          onRemove={() => onChange(filters.filter((each) => each !== filter))}
        />
      ))}
      <ConditionChips
        conditions={filters.filter(isChangeable).map(conditionOf)}
        isOffered={isOffered}
        onChange={(next) => onChange([...others, ...conditionsBody(next)])}
      />
    </section>
  )
}
