import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { titleOf } from '../../data/result.ts'
import { useMeta } from '../../data/statistics.ts'
import { analysis } from '../../texts/analysis.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { leavesOf, memberOf } from '../../tiles/filters.ts'
import type { Filter } from '../../tiles/tile.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PopoverButton } from '../../ui/popover.tsx'
import styles from './filter-bar.module.css'
import { words } from './texts.ts'

const simpleOperators = ['equals', 'notEquals', 'contains', 'notContains'] as const
type SimpleOperator = (typeof simpleOperators)[number]

/** A filter as a sentence. */
function useSentence(): (filter: Filter) => string {
  const t = useTexts(words)
  const meta = useMeta().data
  const sentence = (filter: Filter): string => {
    if (!('operator' in filter)) {
      const inner = (filter.and ?? filter.or ?? []).map(sentence)
      return inner.join(` ${filter.and ? t.and : t.or} `)
    }
    const values = (filter.values ?? []).join(', ')
    return `${titleOf(meta, memberOf(filter))} ${t.operators[filter.operator]} ${values}`.trim()
  }
  return sentence
}

/** The shared filters, each to be removed, and a way to add one. */
export function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: readonly Filter[]
  readonly onChange: (filters: readonly Filter[]) => void
}) {
  const t = useTexts(words)
  const sentence = useSentence()
  return (
    <ul className={styles.bar} aria-label={t.filters}>
      {filters.map((filter, i) => {
        const text = sentence(filter)
        return (
          <li key={JSON.stringify(filter)}>
            <button
              type="button"
              className={styles.chip}
              aria-label={t.removeFilter(text)}
              title={leavesOf(filter).map(memberOf).join(', ')}
              onClick={() => onChange(filters.filter((_, place) => place !== i))}
            >
              <span className={styles.chipText} dir="auto">
                {text}
              </span>
              <Icon name="close" size={14} />
            </button>
          </li>
        )
      })}
      <li>
        <PopoverButton
          label={t.filter}
          trigger={
            <Button kind="quiet" icon="filter">
              {t.filter}
            </Button>
          }
        >
          {(close) => (
            <NewFilter
              onAdd={(filter) => {
                onChange([...filters, filter])
                close()
              }}
            />
          )}
        </PopoverButton>
      </li>
    </ul>
  )
}

function NewFilter({ onAdd }: { readonly onAdd: (filter: Filter) => void }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const { absent } = useTexts(analysis)
  const meta = useMeta().data
  const members = Object.entries(meta?.dimensions ?? {})
    .filter(([, { type, filterOnly }]) => type === 'string' && !filterOnly)
    .map(([id, { title }]) => ({ id, label: title, hint: id }))
  const [member, setMember] = useState<string>()
  const [operator, setOperator] = useState<SimpleOperator>('equals')
  const [value, setValue] = useState('')
  const { data: values = [] } = useQuery({
    queryKey: ['statistics-values', member, value, 8],
    queryFn: ({ signal }) =>
      client.listStatisticsValues(
        { query: { member: member ?? '', limit: 8, ...(value !== '' && { contains: value }) } },
        { signal },
      ),
    enabled: member !== undefined,
    placeholderData: keepPreviousData,
  })
  const add = (text: string) => {
    if (member !== undefined && text !== '') onAdd({ member, operator, values: [text] })
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        add(value)
      }}
    >
      <Select label={t.member} options={members} value={member} onChange={setMember} placeholder={t.choose} />
      <Select
        label={t.operator}
        options={simpleOperators.map((id) => ({ id, label: t.operators[id] }))}
        value={operator}
        onChange={setOperator}
      />
      <TextField label={t.value} value={value} onChange={setValue} />
      {values.length > 0 && (
        <ul className={styles.values} aria-label={t.frequent}>
          {values.map((each) => (
            <li key={each.value}>
              <button type="button" className={styles.value} dir="auto" onClick={() => add(each.value)}>
                {each.value || absent}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Button kind="main" type="submit" isDisabled={member === undefined || value === ''}>
        {say.add}
      </Button>
    </form>
  )
}
