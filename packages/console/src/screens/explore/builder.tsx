import { memo, useState } from 'react'
import { dateRangeOf } from '../../data/date-ranges.ts'
import type { Granularity, Meta } from '../../data/format.ts'
import { type Comparison, todayIn } from '../../data/ranges.ts'
import { titleOf } from '../../data/result.ts'
import { useTimezone } from '../../data/view-state.ts'
import { analysis } from '../../texts/analysis.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Checkbox, Select, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PopoverButton } from '../../ui/popover.tsx'
import { RangePicker, useRangeName } from '../../ui/range-picker.tsx'
import styles from './builder.module.css'
import type { Purpose } from './compatibility.ts'
import { FilterList } from './filter-list.tsx'
import { Definition, MemberPicker } from './member-picker.tsx'
import { automaticGranularity, timeStateOf, withGranularity, withRange } from './query-range.ts'
import {
  granularities,
  maxLimit,
  membersOf,
  type Query,
  settled,
  unseenIn,
  withMeasures,
} from './query-state.ts'
import { words } from './texts.ts'

interface BuilderProps {
  readonly meta: Meta
  readonly query: Query
  readonly onChange: (query: Query) => void
}

/** A question as chips and sentences. What is typed stays in its field until it is whole. */
export const Builder = memo(function Builder(props: BuilderProps) {
  const { meta, query, onChange } = props
  const t = useTexts(words)
  const unseen = unseenIn(query)
  return (
    <div className={styles.builder}>
      <Members
        {...props}
        title={t.measures}
        hint={t.measuresHint}
        add={t.addMeasure}
        purpose="measure"
        chosen={query.measures}
        onChosen={(measures) => onChange(withMeasures(query, measures, meta))}
      />
      <Members
        {...props}
        title={t.dimensions}
        hint={t.dimensionsHint}
        add={t.addDimension}
        purpose="dimension"
        chosen={query.dimensions}
        onChosen={(dimensions) => onChange(settled({ ...query, dimensions: [...dimensions] }, meta))}
      />
      <section className={styles.part}>
        <h3>{t.filters}</h3>
        <FilterList
          meta={meta}
          members={membersOf(query)}
          filters={query.filters}
          onChange={(filters) => onChange({ ...query, filters: [...filters] })}
        />
      </section>
      <Time {...props} />
      <Options {...props} />
      {unseen.length > 0 && (
        <p className={styles.note} role="note">
          {t.unseen(unseen.map((each) => t.unseenKinds[each]).join(', '))}
        </p>
      )}
    </div>
  )
})

function Members({
  meta,
  query,
  title,
  hint,
  add,
  purpose,
  chosen,
  onChosen,
}: BuilderProps & {
  readonly title: string
  readonly hint: string
  readonly add: string
  readonly purpose: Purpose
  readonly chosen: readonly string[]
  readonly onChosen: (members: readonly string[]) => void
}) {
  const t = useTexts(words)
  const [isOpen, setOpen] = useState(false)
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      {chosen.length === 0 && (
        <p className={styles.hint} data-quiet>
          {hint}
        </p>
      )}
      <ul className={styles.members}>
        {chosen.map((id) => (
          <li key={id} className={styles.member}>
            <PopoverButton
              label={t.about(titleOf(meta, id))}
              trigger={
                <Button kind="quiet">
                  <span className={styles.memberTitle} dir="auto">
                    {titleOf(meta, id)}
                  </span>
                </Button>
              }
            >
              <Definition meta={meta} id={id} />
            </PopoverButton>
            <IconButton
              icon="close"
              label={t.removeMember(titleOf(meta, id))}
              onPress={() => onChosen(chosen.filter((each) => each !== id))}
            />
          </li>
        ))}
      </ul>
      <Button kind="quiet" icon="plus" onPress={() => setOpen(true)}>
        {add}
      </Button>
      {isOpen && (
        <MemberPicker
          title={add}
          meta={meta}
          purpose={purpose}
          members={membersOf(query)}
          taken={chosen}
          onClose={() => setOpen(false)}
          onPick={(id) => {
            setOpen(false)
            onChosen([...chosen, id])
          }}
        />
      )}
    </section>
  )
}

function Time({ meta, query, onChange }: BuilderProps) {
  const t = useTexts(words)
  const say = useTexts(analysis)
  const ofCompany = useTimezone()
  const nameOf = useRangeName()
  const today = todayIn(isZone(query.timezone) ? (query.timezone ?? undefined) : ofCompany)
  const state = timeStateOf(query, today)
  const automatic = automaticGranularity(state.days)
  const isAutomatic = state.granularity === automatic
  // A relative range that the picker has no name for is said by the days that it holds today.
  const { days } = state
  const named = state.text === undefined ? t.allTime : days ? nameOf([days.from, days.to]) : state.text
  return (
    <section className={styles.part}>
      <h3>{t.time}</h3>
      <div className={styles.fields}>
        <RangePicker
          value={state.range ?? [today, today]}
          name={state.range === undefined ? named : undefined}
          today={today}
          onChange={(range) => onChange(withRange(query, { range: dateRangeOf(range) }, today))}
          more={{
            label: t.allTime,
            isChosen: state.text === undefined,
            onChoose: () => onChange(withRange(query, { range: undefined, comparison: 'none' }, today)),
          }}
        />
        <Select
          label={say.comparison}
          hidesLabel
          isDisabled={state.days === undefined}
          options={[
            ...(['none', 'previous', 'year'] as const).map((id) => ({ id, label: say.comparisons[id] })),
            ...(state.comparison === 'own' ? [{ id: 'own' as const, label: t.ownComparison }] : []),
          ]}
          value={state.comparison as string}
          onChange={(comparison) => {
            if (comparison !== 'own')
              onChange(withRange(query, { comparison: comparison as Comparison }, today))
          }}
        />
        <Select
          label={t.granularity}
          hidesLabel
          options={[
            { id: 'none', label: t.noGranularity },
            { id: 'automatic', label: t.automatic(say.granularities[automatic]) },
            ...granularities
              .filter((unit) => unit !== automatic)
              .map((unit) => ({
                id: unit as string,
                label: `${t.granularity} ${say.granularities[unit].toLowerCase()}`,
              })),
          ]}
          value={isAutomatic ? 'automatic' : (state.granularity ?? 'none')}
          onChange={(unit) => {
            const next =
              unit === 'none' ? undefined : unit === 'automatic' ? automatic : (unit as Granularity)
            onChange(settled(withGranularity(query, next), meta))
          }}
        />
      </div>
    </section>
  )
}

export function isZone(name: string | null | undefined): boolean {
  if (!name) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

function Options({ query, onChange }: BuilderProps) {
  const t = useTexts(words)
  const [zone, setZone] = useState(query.timezone ?? '')
  const [limit, setLimit] = useState(query.limit ? String(query.limit) : '')
  const isByTime = query.timeDimensions.some(({ granularity }) => granularity)
  const isBounded = query.timeDimensions.some(
    ({ dateRange, compareDateRange }) => dateRange || compareDateRange,
  )
  const isWrongZone = zone !== '' && !isZone(zone)
  const count = Number(limit)
  const isWrongLimit = limit !== '' && !(Number.isInteger(count) && count >= 1 && count <= maxLimit)
  const put = (change: Partial<Query>) => {
    const next = { ...query, ...change }
    for (const key of ['timezone', 'limit', 'fill'] as const) if (!next[key]) delete next[key]
    onChange(next)
  }
  return (
    <details className={styles.options} open={query.timezone !== undefined || query.limit !== undefined}>
      <summary>
        <Icon name="right" size={14} />
        {t.options}
      </summary>
      <div className={styles.fields}>
        <TextField
          label={t.timezone}
          placeholder={t.ownZone}
          value={zone}
          onChange={setZone}
          onBlur={() => !isWrongZone && zone !== (query.timezone ?? '') && put({ timezone: zone })}
          fault={isWrongZone ? t.unknownZone : undefined}
        />
        <TextField
          label={t.limit}
          inputMode="numeric"
          hint={t.limitHint}
          value={limit}
          onChange={setLimit}
          onBlur={() => !isWrongLimit && count !== (query.limit ?? 0) && put({ limit: count })}
          fault={isWrongLimit ? t.limitHint : undefined}
        />
        {isByTime && isBounded && (
          <Checkbox isSelected={query.fill === true} onChange={(fill) => put({ fill })}>
            {t.fill}
          </Checkbox>
        )}
      </div>
    </details>
  )
}
