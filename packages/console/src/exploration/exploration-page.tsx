import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Meta } from '../data/format.ts'
import { useMeta } from '../data/statistics.ts'
import type { RangeState } from '../data/view-state.ts'
import { useTexts } from '../texts/texts.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded, Skeleton } from '../ui/state.tsx'
import { RangeActions } from './exploration-parts.tsx'
import { useOpening } from './save-exploration.tsx'
import type { ExplorationKind } from './saved-exploration.ts'
import { words } from './texts.ts'

/** The screen of an exploration, from its head to where its question can be asked. */
export function ExplorationPage<T>({
  kind,
  title,
  lead,
  range,
  isCompared = false,
  first,
  isEmpty,
  children,
}: {
  readonly kind: ExplorationKind
  readonly title: string
  readonly lead: string
  readonly range: RangeState
  readonly isCompared?: boolean
  /** What is asked before, and when that says that no event has come yet. */
  readonly first: UseQueryResult<T>
  readonly isEmpty: (data: T) => boolean
  readonly children: (meta: Meta, first: T) => ReactNode
}) {
  const t = useTexts(words)
  const meta = useMeta()
  const isOpening = useOpening(kind)
  const skeleton = <Skeleton height={420} />
  const noEvents = (
    <Empty
      icon={kind}
      title={t.noEvents}
      action={
        <ButtonLink kind="main" to="/start">
          {t.begin}
        </ButtonLink>
      }
    >
      {t.noEventsHint}
    </Empty>
  )
  return (
    <Page title={title} lead={lead} isWide actions={<RangeActions range={range} isCompared={isCompared} />}>
      {isOpening ? (
        skeleton
      ) : (
        <Loaded query={meta} skeleton={skeleton}>
          {(known) => (
            <Loaded query={first} skeleton={skeleton} isEmpty={isEmpty} empty={noEvents}>
              {(data) => children(known, data)}
            </Loaded>
          )}
        </Loaded>
      )}
    </Page>
  )
}
