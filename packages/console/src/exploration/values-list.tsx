import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatMeasure } from '../data/format.ts'
import { useMeta } from '../data/statistics.ts'
import { useLanguage } from '../texts/texts.ts'
import { cohortsQuery, useValues } from './rows.ts'
import { type Choice, SearchList, type SearchListProps } from './search-list.tsx'
import { cohortMember } from './selection.ts'

type ValuesListProps = Pick<SearchListProps, 'label' | 'chosen' | 'onChange'> & {
  readonly member: string
  /** One value, where several would say nothing. */
  readonly isSingle?: boolean
}

/** Values of a member to choose some of: found by search, with how often each of them occurred. */
export function ValuesList({ member, isSingle = false, ...list }: ValuesListProps) {
  const language = useLanguage()
  const [sought, setSought] = useState('')
  const fixed = useMeta().data?.dimensions[member]?.values
  const isCohort = member === cohortMember
  const cohorts = useQuery({ ...cohortsQuery, enabled: isCohort }).data ?? []
  const values = useValues(member, sought, !isCohort && fixed === undefined).data ?? []
  if (isCohort)
    return (
      <SearchList
        {...list}
        isMultiple
        choices={cohorts.map(({ id, name }): Choice => ({ id, label: name }))}
      />
    )
  if (fixed)
    return <SearchList {...list} isMultiple choices={fixed.map((id): Choice => ({ id, label: id }))} />
  return (
    <SearchList
      {...list}
      isMultiple={!isSingle}
      takesOwn
      onSearch={setSought}
      choices={values.map(
        ({ value, count }): Choice => ({
          id: value,
          label: value,
          hint: formatMeasure(language, 'integer', count, true),
        }),
      )}
    />
  )
}
