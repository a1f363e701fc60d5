import { Button as AriaButton } from 'react-aria-components'
import type { Meta } from '../../data/format.ts'
import { SearchList } from '../../exploration/search-list.tsx'
import { isRuleMember } from '../../exploration/selection.ts'
import { SelectionEditor } from '../../exploration/selection-editor.tsx'
import { words as say } from '../../exploration/texts.ts'
import { ValuesList } from '../../exploration/values-list.tsx'
import { useTexts } from '../../texts/texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import field from '../../ui/field.module.css'
import { Segments, Select, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PopoverButton } from '../../ui/popover.tsx'
import {
  type Draft,
  type EventDraft,
  emptyEvent,
  emptyLabel,
  emptySeen,
  type GroupDraft,
  groupOf,
  type LabelDraft,
  labelOperators,
  type SeenDraft,
} from './rule-draft.ts'
import styles from './rule-editor.module.css'
import { PointChoice, RangeChoice } from './rule-times.tsx'
import { words } from './texts.ts'

/** Groups within groups that still leave room for their conditions. */
const maxLevel = 2

interface PartProps<T extends Draft> {
  readonly draft: T
  readonly meta: Meta
  readonly onChange: (draft: T) => void
}

/** A rule as nested groups of sentences. */
export function GroupEditor({
  draft,
  meta,
  onChange,
  level = 0,
}: PartProps<GroupDraft> & { readonly level?: number }) {
  const t = useTexts(words)
  const { of } = draft
  const add = (part: Draft) => onChange({ ...draft, of: [...of, part] })
  const entries = [
    { id: 'event', label: t.addEvent, icon: 'pulse' as const, onAction: () => add(emptyEvent) },
    { id: 'seen', label: t.addSeen, icon: 'clock' as const, onAction: () => add(emptySeen) },
    { id: 'label', label: t.addLabel, icon: 'filter' as const, onAction: () => add(emptyLabel) },
    ...(level < maxLevel
      ? [
          {
            id: 'group',
            label: t.addGroup,
            icon: 'grip' as const,
            onAction: () => add(groupOf([emptyEvent], draft.join === 'and' ? 'or' : 'and')),
          },
        ]
      : []),
  ]
  return (
    <fieldset className={styles.group} data-level={level} aria-label={t.group}>
      <div className={styles.head}>
        <Select
          label={t.isNot}
          hidesLabel
          options={[
            { id: 'is' as const, label: t.peopleWho },
            { id: 'not' as const, label: t.peopleWhoNot },
          ]}
          value={draft.isNot ? 'not' : 'is'}
          onChange={(next) => onChange({ ...draft, isNot: next === 'not' })}
        />
        <Segments
          label={t.join}
          options={(['and', 'or'] as const).map((id) => ({ id, label: t.joins[id] }))}
          value={draft.join}
          onChange={(join) => onChange({ ...draft, join })}
        />
      </div>
      <ul className={styles.parts}>
        {of.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
          <li key={index} className={styles.part} data-kind={part.kind}>
            {index > 0 && <span className={styles.join}>{t.between[draft.join]}</span>}
            <div className={styles.row}>
              <PartEditor
                draft={part}
                meta={meta}
                level={level + 1}
                onChange={(next) => onChange({ ...draft, of: of.with(index, next) })}
              />
              <IconButton
                icon="close"
                label={t.removePart(index + 1)}
                onPress={() => onChange({ ...draft, of: of.toSpliced(index, 1) })}
              />
            </div>
          </li>
        ))}
      </ul>
      <div>
        <Menu label={t.add} trigger={<Button icon="plus">{t.add}</Button>} entries={entries} />
      </div>
    </fieldset>
  )
}

function PartEditor({ draft, ...more }: PartProps<Draft> & { readonly level: number }) {
  switch (draft.kind) {
    case 'group':
      return <GroupEditor draft={draft} {...more} />
    case 'event':
      return <EventEditor draft={draft} {...more} />
    case 'seen':
      return <SeenEditor draft={draft} {...more} />
    case 'label':
      return <LabelEditor draft={draft} {...more} />
  }
}

function DidOrNot({
  draft,
  texts,
  onChange,
}: {
  readonly draft: Draft
  readonly texts: readonly [is: string, not: string]
  readonly onChange: (isNot: boolean) => void
}) {
  const t = useTexts(words)
  return (
    <Select
      label={t.isNot}
      hidesLabel
      options={[
        { id: 'is' as const, label: texts[0] },
        { id: 'not' as const, label: texts[1] },
      ]}
      value={draft.isNot ? 'not' : 'is'}
      onChange={(next) => onChange(next === 'not')}
    />
  )
}

const modes = ['atLeast', 'atMost', 'exactly', 'between'] as const
type Mode = (typeof modes)[number]

const modeOf = ({ atLeast, atMost }: EventDraft): Mode => {
  if (atMost === undefined) return 'atLeast'
  if (atLeast === atMost) return 'exactly'
  return atLeast === undefined || atLeast === 0 ? 'atMost' : 'between'
}

function timesAs(mode: Mode, { atLeast = 1, atMost = atLeast }: EventDraft) {
  switch (mode) {
    case 'atLeast':
      return { atLeast, atMost: undefined }
    case 'atMost':
      return { atLeast: 0, atMost: Math.max(1, atMost) }
    case 'exactly':
      return { atLeast: atMost, atMost }
    case 'between':
      return { atLeast: Math.max(1, atLeast), atMost: Math.max(atMost, atLeast + 1, 2) }
  }
}

function EventEditor({ draft, onChange }: PartProps<EventDraft>) {
  const t = useTexts(words)
  const mode = modeOf(draft)
  return (
    <div className={styles.sentence}>
      <DidOrNot draft={draft} texts={[t.did, t.didNot]} onChange={(isNot) => onChange({ ...draft, isNot })} />
      <div className={styles.selection}>
        <SelectionEditor
          label={t.event}
          selection={draft.selection}
          isOffered={isRuleMember}
          onChange={(selection) => onChange({ ...draft, selection })}
        />
      </div>
      <span className={styles.times}>
        <Select
          label={t.howOften}
          hidesLabel
          options={modes.map((id) => ({ id, label: t.modes[id] }))}
          value={mode}
          onChange={(next) => onChange({ ...draft, ...timesAs(next, draft) })}
        />
        {mode !== 'atMost' && (
          <Count
            label={t.times}
            value={draft.atLeast ?? 1}
            onChange={(value) =>
              onChange({ ...draft, atLeast: value, ...(mode === 'exactly' && { atMost: value }) })
            }
          />
        )}
        {mode === 'between' && <span>{t.and}</span>}
        {(mode === 'between' || mode === 'atMost') && (
          <Count
            label={t.timesAtMost}
            value={draft.atMost ?? 1}
            onChange={(atMost) => onChange({ ...draft, atMost })}
          />
        )}
        <span>{t.timesWord}</span>
      </span>
      <RangeChoice value={draft.range} hasEver onChange={(range) => onChange({ ...draft, range })} />
    </div>
  )
}

function Count({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: number
  readonly onChange: (value: number) => void
}) {
  return (
    <span className={styles.count}>
      <TextField
        label={label}
        hidesLabel
        type="number"
        inputMode="numeric"
        value={String(value)}
        onChange={(text) => {
          const next = Number(text)
          if (Number.isInteger(next) && next >= 0 && next <= 1_000_000_000) onChange(next)
        }}
      />
    </span>
  )
}

function SeenEditor({ draft, onChange }: PartProps<SeenDraft>) {
  const t = useTexts(words)
  return (
    <div className={styles.sentence}>
      <DidOrNot
        draft={draft}
        texts={[t.were, t.wereNot]}
        onChange={(isNot) => onChange({ ...draft, isNot })}
      />
      <Select
        label={t.which}
        hidesLabel
        options={(['firstSeen', 'lastSeen'] as const).map((id) => ({ id, label: t.seen[id] }))}
        value={draft.which}
        onChange={(which) => onChange({ ...draft, which })}
      />
      <Select
        label={t.when}
        hidesLabel
        options={(['within', 'before', 'after'] as const).map((id) => ({ id, label: t.hows[id] }))}
        value={draft.how}
        onChange={(how) => onChange({ ...draft, how })}
      />
      {draft.how === 'within' ? (
        <RangeChoice value={draft.range} onChange={(range) => onChange({ ...draft, range })} />
      ) : (
        <PointChoice value={draft.point} onChange={(point) => onChange({ ...draft, point })} />
      )}
    </div>
  )
}

const labelPrefix = 'events.label.'

function LabelEditor({ draft, meta, onChange }: PartProps<LabelDraft>) {
  const t = useTexts(words)
  const s = useTexts(say)
  const keys = Object.keys(meta.dimensions)
    .filter((each) => each.startsWith(labelPrefix))
    .map((each) => each.slice(labelPrefix.length))
  const values = draft.values.length > 0 ? draft.values.join(s.or) : t.chooseValue
  return (
    <div className={styles.sentence}>
      <DidOrNot
        draft={draft}
        texts={[t.have, t.haveNot]}
        onChange={(isNot) => onChange({ ...draft, isNot })}
      />
      <div className={styles.choice}>
        <PopoverButton
          label={t.labelKey}
          trigger={<Trigger label={t.labelKey} text={draft.key === '' ? t.chooseLabel : draft.key} />}
        >
          {(close) => (
            <SearchList
              label={t.labelKey}
              takesOwn
              choices={keys.map((id) => ({ id, label: id }))}
              chosen={draft.key === '' ? [] : [draft.key]}
              onChange={([key]) => {
                if (key !== undefined)
                  onChange({ ...draft, key, values: key === draft.key ? draft.values : [] })
                close()
              }}
            />
          )}
        </PopoverButton>
      </div>
      <Select
        label={s.operator}
        hidesLabel
        options={labelOperators.map((id) => ({ id, label: s.operators[id] }))}
        value={draft.operator}
        onChange={(operator) => onChange({ ...draft, operator })}
      />
      {draft.key !== '' && (
        <div className={styles.choice}>
          <PopoverButton label={s.values} trigger={<Trigger label={s.values} text={values} />}>
            <ValuesList
              label={s.values}
              member={`${labelPrefix}${draft.key}`}
              chosen={draft.values}
              onChange={(next) => onChange({ ...draft, values: next })}
            />
          </PopoverButton>
        </div>
      )}
      <RangeChoice value={draft.range} hasEver onChange={(range) => onChange({ ...draft, range })} />
    </div>
  )
}

function Trigger({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <AriaButton className={field.trigger ?? ''} aria-label={`${label}: ${text}`}>
      <span className={field.value} dir="auto">
        {text}
      </span>
      <Icon name="down" size={14} />
    </AriaButton>
  )
}
