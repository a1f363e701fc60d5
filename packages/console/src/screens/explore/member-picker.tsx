import { useDeferredValue, useMemo, useRef, useState } from 'react'
import { sourceOf } from '../../data/filters.ts'
import type { Meta } from '../../data/format.ts'
import { titleOf } from '../../data/result.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Badge } from '../../ui/page.tsx'
import { candidatesFor, kindOf, matchOf, type Obstacle, obstacleFor, type Purpose } from './compatibility.ts'
import styles from './member-picker.module.css'
import { words } from './texts.ts'

interface PickerProps {
  readonly title: string
  readonly meta: Meta
  readonly purpose: Purpose
  /** All members of the query that stay. */
  readonly members: readonly string[]
  /** Those of the purpose. */
  readonly taken: readonly string[]
  /** In an `or`, the kind that its filters have. */
  readonly kind?: ReturnType<typeof kindOf> | undefined
  readonly onPick: (member: string) => void
  readonly onClose: () => void
}

/** More would hold typing up and are not read. */
const maxShown = 80

export function useSourceName(): (source: string) => string {
  const { sources } = useTexts(words)
  return (source) => sources[source as keyof typeof sources] ?? source
}

function useObstacleText(meta: Meta): (obstacle: Obstacle) => string {
  const t = useTexts(words)
  const nameOf = useSourceName()
  return (obstacle) => {
    switch (obstacle.kind) {
      case 'chosen':
        return t.chosen
      case 'filterOnly':
        return t.filterOnly
      case 'virtual':
        return t.virtual
      case 'kind':
        return t.otherKind
      case 'member':
        return t.noDimension(titleOf(meta, obstacle.member), nameOf(obstacle.source))
      default:
        return t.together
    }
  }
}

export const describedOf = (meta: Meta, id: string) => meta.measures[id] ?? meta.dimensions[id]

/** Chooses a measure or a dimension by search, with what it means beside it and why it cannot be chosen. */
export function MemberPicker(props: PickerProps) {
  return (
    <Dialog title={props.title} isOpen onClose={props.onClose} width={820}>
      <Finder {...props} />
    </Dialog>
  )
}

interface Candidate {
  readonly id: string
  readonly obstacle: Obstacle | undefined
}

/** What can be chosen first, then by merit; without a search as the model lists them. */
function foundIn(meta: Meta, known: readonly Candidate[], text: string): readonly Candidate[] {
  const parts = text.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = known.flatMap((each, place) => {
    const described = describedOf(meta, each.id)
    const match = described ? matchOf(parts, each.id, described) : 0
    return match > 0 ? [{ ...each, match, place }] : []
  })
  return matches.sort(
    (a, b) =>
      Number(a.obstacle !== undefined) - Number(b.obstacle !== undefined) ||
      b.match - a.match ||
      a.place - b.place,
  )
}

function Finder({ meta, purpose, members, taken, kind, title, onPick }: PickerProps) {
  const t = useTexts(words)
  const nameOf = useSourceName()
  const textOf = useObstacleText(meta)
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const asked = useDeferredValue(text)
  const known = useMemo(
    () =>
      candidatesFor(meta, purpose, members).map((id) => ({
        id,
        obstacle:
          kind !== undefined && kindOf(meta, id) !== kind
            ? ({ kind: 'kind' } as const)
            : obstacleFor(meta, purpose, id, members, taken),
      })),
    [meta, purpose, members, taken, kind],
  )
  const found = useMemo(() => foundIn(meta, known, asked), [known, asked, meta])
  const shown = found.slice(0, maxShown)
  const current = shown[Math.min(active, shown.length - 1)]
  const move = (step: number) => {
    const next = Math.max(0, Math.min(shown.length - 1, active + step))
    setActive(next)
    list.current?.children[next]?.scrollIntoView({ block: 'nearest' })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the field above the list
    <div
      className={styles.picker}
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key]
        if (step !== undefined) {
          event.preventDefault()
          move(step)
        }
        if (event.key !== 'Enter') return
        // The list may be behind what was typed.
        const chosen = asked === text ? current : foundIn(meta, known, text)[active]
        if (chosen === undefined || chosen.obstacle) return
        event.preventDefault()
        onPick(chosen.id)
      }}
    >
      <TextField
        label={t.searchMembers}
        hidesLabel
        autoFocus
        type="search"
        placeholder={t.searchMembers}
        value={text}
        onChange={(value) => {
          setText(value)
          setActive(0)
        }}
      />
      <div className={styles.columns}>
        <ul ref={list} className={styles.list} aria-label={title}>
          {shown.map(({ id, obstacle }, index) => (
            <li key={id}>
              <button
                type="button"
                className={styles.member}
                data-active={id === current?.id}
                aria-disabled={obstacle !== undefined}
                onMouseEnter={() => setActive(index)}
                onFocus={() => setActive(index)}
                onClick={() => !obstacle && onPick(id)}
              >
                <span className={styles.memberTitle} dir="auto">
                  {titleOf(meta, id)}
                </span>
                <span className={styles.memberSource}>{nameOf(sourceOf(id))}</span>
                {obstacle && <span className={styles.reason}>{textOf(obstacle)}</span>}
              </button>
            </li>
          ))}
          {shown.length === 0 && (
            <li className={styles.none} data-quiet>
              {t.noMember}
            </li>
          )}
          {found.length > shown.length && (
            <li className={styles.none} data-quiet>
              {t.moreMembers(found.length - shown.length)}
            </li>
          )}
        </ul>
        {current && <Definition meta={meta} id={current.id} />}
      </div>
    </div>
  )
}

/** Text of the catalogue, in which members and values stand between backquotes. */
export function Described({ text }: { readonly text: string }) {
  return (
    <p>
      {text.split('`').map((part, i) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
        i % 2 === 1 ? <code key={i}>{part}</code> : part,
      )}
    </p>
  )
}

/** What a member means, as the service says it. */
export function Definition({ meta, id }: { readonly meta: Meta; readonly id: string }) {
  const t = useTexts(words)
  const language = useLanguage()
  const nameOf = useSourceName()
  const described = describedOf(meta, id)
  const measure = meta.measures[id]
  if (!described) return null
  return (
    <section className={styles.definition} aria-live="polite">
      <h3 dir="auto">{described.title}</h3>
      <code className={styles.id} dir="auto">
        {id}
      </code>
      <Described text={described.description} />
      <p className={styles.badges}>
        <Badge>{nameOf(described.source)}</Badge>
        <Badge>{measure ? measure.format : described.type}</Badge>
      </p>
      {measure?.exactUpTo !== undefined && (
        <p data-quiet>
          {t.exact(
            measure.exactUpTo.toLocaleString(language),
            (measure.relativeError ?? 0).toLocaleString(language, { style: 'percent' }),
          )}
        </p>
      )}
      <a href={`/docs/measures#${described.source}`} target="_blank" rel="noreferrer">
        {t.document}
      </a>
    </section>
  )
}
