import type { ActivityOutcome } from '@millrace/contract/resources/datasource-activity.ts'
import { memo, useEffect, useState } from 'react'
import { countsOfMinute, type Entry } from '../../data/activity.ts'
import type { Feed as FeedData } from '../../data/use-activity.ts'
import { useInstant } from '../../data/view-state.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { Empty } from '../../ui/state.tsx'
import styles from './feed.module.css'
import { useRuleText } from './rule-texts.ts'
import { words } from './texts.ts'

export const outcomes = ['accepted', 'changed', 'dropped', 'bot', 'refused'] as const

export const outcomeKinds = {
  accepted: 'good',
  changed: 'warn',
  dropped: 'bad',
  bot: 'plain',
  refused: 'bad',
  noted: 'accent',
} as const

/** What is told of a busy second stays on the screen for so long. */
const shareShownSeconds = 5

/** The second it is now, for what is counted by time. */
function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** Events as they come, with what the last minute brought. */
export function Feed({
  feed,
  only = [],
  onOnly,
  rows = 100,
}: {
  readonly feed: FeedData
  /** Outcomes that are shown; all without any. */
  readonly only?: readonly ActivityOutcome[]
  readonly onOnly?: (only: readonly ActivityOutcome[]) => void
  readonly rows?: number
}) {
  const t = useTexts(words)
  const language = useLanguage()
  const instant = useInstant()
  const now = useNow()
  const { state, activity } = feed
  const [held, setHeld] = useState<typeof activity>()
  const counts = countsOfMinute(activity, now)
  const isQuiet = Object.values(counts).every((count) => count === 0)
  const shown = (held ?? activity).entries
    .filter(({ outcome }) => only.length === 0 || only.includes(outcome))
    .slice(0, rows)
  const { share, skipped } = activity
  const isSampled = share !== undefined && now / 1_000 - share.second < shareShownSeconds
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 })
  return (
    <Card
      title={
        <span className={styles.title}>
          {t.feed}
          <span className={styles.state} data-state={state} role="status">
            {t.states[state]}
          </span>
        </span>
      }
      actions={
        <Button
          kind="quiet"
          onPress={() => setHeld(held ? undefined : activity)}
          isDisabled={!held && activity.entries.length === 0}
        >
          {held ? t.resume : t.pause}
        </Button>
      }
    >
      {(onOnly || !isQuiet) && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as these are
        <div className={styles.counts} role="group" aria-label={t.only}>
          {outcomes.map((outcome) => {
            const text = (
              <>
                <Badge kind={outcomeKinds[outcome]}>{t.outcomes[outcome]}</Badge>
                <b>{new Intl.NumberFormat(language).format(counts[outcome])}</b>
              </>
            )
            if (!onOnly) return counts[outcome] > 0 && <span key={outcome}>{text}</span>
            const isOn = only.includes(outcome)
            return (
              <button
                key={outcome}
                type="button"
                className={styles.count}
                aria-pressed={isOn}
                onClick={() => onOnly(isOn ? only.filter((each) => each !== outcome) : [...only, outcome])}
              >
                {text}
              </button>
            )
          })}
          <span data-quiet>{t.lastMinute}</span>
        </div>
      )}
      {held && <p className={styles.note}>{t.paused(activity.lastKey - held.lastKey)}</p>}
      {isSampled && <p className={styles.note}>{t.sampled(percent.format(share.value))}</p>}
      {skipped > 0 && <p className={styles.note}>{t.skipped(skipped)}</p>}
      {shown.length === 0 ? (
        <Empty icon="pulse" title={activity.entries.length === 0 ? t.waiting : t.nothingChosen}>
          {activity.entries.length === 0 && state !== 'absent' && t.waitingHint}
        </Empty>
      ) : (
        <ol className={styles.list} aria-label={t.feed}>
          {shown.map((entry) => (
            <Row key={entry.key} entry={entry} time={instant(entry.at, 'time')} />
          ))}
        </ol>
      )}
    </Card>
  )
}

const Row = memo(function Row({ entry, time }: { readonly entry: Entry; readonly time: string }) {
  const t = useTexts(words)
  const ruleText = useRuleText()
  const { at, outcome, name, url, rule, path, changes = [], deviceType, country, person } = entry
  const reasons = rule === undefined ? changes : [{ rule, path: path ?? '' }]
  return (
    <li className={styles.row}>
      <time className={styles.time} dateTime={at}>
        {time}
      </time>
      <Badge kind={outcomeKinds[outcome]}>{t.outcomes[outcome]}</Badge>
      <span className={styles.what}>
        <b dir="auto">{name ?? t.noName}</b>
        {url !== undefined && (
          <span className={styles.url} dir="ltr" title={url}>
            {url.replace(/^https?:\/\//, '')}
          </span>
        )}
        {reasons.map((each) => (
          <span key={`${each.rule} ${each.path}`} className={styles.reason}>
            {ruleText(each.rule).title}
            {each.path !== '' && <code> {t.at(each.path)}</code>}
          </span>
        ))}
      </span>
      <span className={styles.who}>
        {[deviceType, country].filter(Boolean).join(' · ')}
        {person !== undefined && (
          <code title={`${t.person(person)}. ${t.personHint}`} className={styles.person}>
            {person}
          </code>
        )}
      </span>
    </li>
  )
})
