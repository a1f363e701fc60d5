import { useState } from 'react'
import { type BinaryFilter, type Filter, isGroup, leavesOf, memberOf } from '../../data/filters.ts'
import type { Meta } from '../../data/format.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import styles from './builder.module.css'
import { kindOf } from './compatibility.ts'
import { FilterEditor } from './filter-editor.tsx'
import { sentenceOf } from './filter-words.ts'
import { MemberPicker } from './member-picker.tsx'
import { filtersOf, groupOf, joinOf, maxDepth, operatorsOf } from './query-state.ts'
import { words } from './texts.ts'

interface ListProps {
  readonly meta: Meta
  /** All members of the query. */
  readonly members: readonly string[]
  readonly filters: readonly Filter[]
  readonly onChange: (filters: readonly Filter[]) => void
  readonly join?: 'and' | 'or'
  readonly depth?: number
}

/** What is being chosen: the member of a new filter, alone or in a group of its own, or a filter that is edited. */
type Open =
  | { readonly kind: 'member'; readonly inGroup: boolean }
  | { readonly kind: 'filter'; readonly filter: BinaryFilter; readonly at: number; readonly inGroup: boolean }

/** Filters as sentences, with groups in each other. */
export function FilterList({ meta, members, filters, onChange, join = 'and', depth = 0 }: ListProps) {
  const t = useTexts(words)
  const [open, setOpen] = useState<Open>()
  const put = (at: number, filter: Filter | undefined) =>
    onChange(
      filter === undefined
        ? filters.filter((_, i) => i !== at)
        : at < filters.length
          ? filters.map((each, i) => (i === at ? filter : each))
          : [...filters, filter],
    )
  const [first] = leavesOf(filters)
  return (
    <div className={styles.filters} data-join={join}>
      {filters.length > 0 && (
        <ul className={styles.filterItems}>
          {filters.map((filter, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: equal filters may stand twice
            <li key={at} className={styles.filterItem}>
              {at > 0 && <span className={styles.join}>{join === 'or' ? t.or : t.and}</span>}
              {isGroup(filter) ? (
                <div className={styles.group}>
                  <div className={styles.groupHead}>
                    <Select
                      label={t.filters}
                      hidesLabel
                      options={[
                        { id: 'and', label: t.groupAll },
                        { id: 'or', label: t.groupAny },
                      ]}
                      value={joinOf(filter)}
                      onChange={(next) => put(at, groupOf(next as 'and' | 'or', filtersOf(filter)))}
                    />
                    <IconButton icon="close" label={t.removeGroup} onPress={() => put(at, undefined)} />
                  </div>
                  <FilterList
                    meta={meta}
                    members={members}
                    filters={filtersOf(filter)}
                    join={joinOf(filter)}
                    depth={depth + 1}
                    onChange={(inner) =>
                      put(at, inner.length === 0 ? undefined : groupOf(joinOf(filter), inner))
                    }
                  />
                </div>
              ) : (
                <Sentence
                  meta={meta}
                  filter={filter}
                  onEdit={() => setOpen({ kind: 'filter', filter, at, inGroup: false })}
                  onRemove={() => put(at, undefined)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <div className={styles.adds}>
        <Button kind="quiet" icon="plus" onPress={() => setOpen({ kind: 'member', inGroup: false })}>
          {depth === 0 ? t.addFilter : t.addTo}
        </Button>
        {depth < maxDepth - 1 && (
          <IconButton
            icon="filter"
            label={t.addGroup}
            onPress={() => setOpen({ kind: 'member', inGroup: true })}
          />
        )}
      </div>
      {open?.kind === 'member' && (
        <MemberPicker
          title={open.inGroup ? t.addGroup : t.addFilter}
          meta={meta}
          purpose="filter"
          members={members}
          taken={[]}
          kind={join === 'or' && first ? kindOf(meta, memberOf(first)) : undefined}
          onClose={() => setOpen(undefined)}
          onPick={(member) => {
            const [operator = 'equals'] = operatorsOf(meta, member)
            setOpen({ ...open, kind: 'filter', at: filters.length, filter: { member, operator } })
          }}
        />
      )}
      {open?.kind === 'filter' && (
        <FilterEditor
          meta={meta}
          filter={open.filter}
          onClose={() => setOpen(undefined)}
          onApply={(filter) => {
            setOpen(undefined)
            put(open.at, open.inGroup ? groupOf(join === 'or' ? 'and' : 'or', [filter]) : filter)
          }}
        />
      )}
    </div>
  )
}

function Sentence({
  meta,
  filter,
  onEdit,
  onRemove,
}: {
  readonly meta: Meta
  readonly filter: BinaryFilter
  readonly onEdit: () => void
  readonly onRemove: () => void
}) {
  const t = useTexts(words)
  const { member, verb, values, more } = sentenceOf(filter, meta, t.operators)
  return (
    <div className={styles.member}>
      <button type="button" className={styles.sentence} onClick={onEdit}>
        <span dir="auto">{member}</span> <span data-quiet>{verb}</span>{' '}
        {values.map((value, i) => (
          <span key={value}>
            <b dir="auto">{value}</b>
            {i < values.length - 1 && ', '}
          </span>
        ))}{' '}
        {more > 0 && <span data-quiet>{t.moreValues(more)}</span>}
      </button>
      <IconButton
        icon="close"
        label={t.removeMember(`${member} ${verb} ${values.join(', ')}`)}
        onPress={onRemove}
      />
    </div>
  )
}
