import { ValidationError } from '@millrace/sdk'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from '../../client.ts'
import { formatMeasure } from '../../data/format.ts'
import { Figure } from '../../result/figure.tsx'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Skeleton } from '../../ui/state.tsx'
import styles from './cohort.module.css'
import { type CohortRule, conditionsOf, depthOf, ruleLimits } from './rule-draft.ts'
import { words } from './texts.ts'

/** The value once it has not changed for a while: a rule is not counted at each key. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/** Why a rule cannot be saved, if it cannot. */
export function useRuleFault(rule: CohortRule | undefined): string | undefined {
  const t = useTexts(words)
  if (!rule) return undefined
  if (depthOf(rule) > ruleLimits.depth) return t.tooDeep
  return conditionsOf(rule) > ruleLimits.conditions ? t.tooMany : undefined
}

/** How many people a rule holds as it is written; the size before stays while the next is counted. */
export function RuleSize({ rule }: { readonly rule: CohortRule | undefined }) {
  const t = useTexts(words)
  const fault = useRuleFault(rule)
  const text = useSettled(rule && fault === undefined ? JSON.stringify(rule) : '', 400)
  const size = useQuery({
    queryKey: ['cohort-rule-size', text],
    queryFn: ({ signal }) =>
      client.countCohortRule({ body: { rule: JSON.parse(text) as CohortRule } }, { signal }),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  })
  if (fault !== undefined) return <p className={styles.fault}>{fault}</p>
  if (!rule) return <p data-quiet>{t.sizeOfNothing}</p>
  if (size.error) {
    const { error } = size
    const first = error instanceof ValidationError ? error.errors[0] : undefined
    return <p className={styles.fault}>{first ? `${first.path}: ${first.message}` : error.message}</p>
  }
  if (!size.data) return <Skeleton lines={2} />
  return (
    <SizeFigure
      people={size.data.people}
      identified={size.data.identified}
      isStale={size.isPlaceholderData || text !== JSON.stringify(rule)}
    />
  )
}

export function SizeFigure({
  people,
  identified,
  isStale = false,
}: {
  readonly people: number
  readonly identified: number
  readonly isStale?: boolean
}) {
  const t = useTexts(words)
  const language = useLanguage()
  return (
    <div className={styles.size} data-stale={isStale} aria-live="polite">
      <Figure value={people} format="integer" size="large" />
      <span>{t.people}</span>
      <p data-quiet>{t.identified(formatMeasure(language, 'integer', identified))}</p>
    </div>
  )
}
