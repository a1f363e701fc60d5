import { Link } from '@tanstack/react-router'
import { Button as AriaButton } from 'react-aria-components'
import { maxSeries, seriesVariable } from '../../charts/colours.ts'
import { formatMeasure } from '../../data/format.ts'
import { words as shared } from '../../exploration/texts.ts'
import { Change } from '../../result/figure.tsx'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PopoverButton } from '../../ui/popover.tsx'
import styles from './funnel-picture.module.css'
import type { FunnelGroup, StepFigures } from './funnel-rows.ts'
import { words } from './texts.ts'

interface FunnelPictureProps {
  readonly groups: readonly FunnelGroup[]
  readonly before: ReadonlyMap<string, FunnelGroup>
  readonly nameOf: (group: FunnelGroup) => string
  /** The rule of a cohort with those who reached a step, where one can say it. */
  readonly ruleOf: (step: number) => object | undefined
}

/** Steps as columns: how many reached each of them, how many were lost before it, and how long it took. */
export function FunnelPicture({ groups, before, nameOf, ruleOf }: FunnelPictureProps) {
  const t = useTexts(words)
  const language = useLanguage()
  const shown = groups.slice(0, maxSeries)
  const isDivided = groups.length > 1
  const steps = groups[0]?.steps ?? []
  return (
    <>
      {isDivided && (
        <ul className={styles.legend}>
          {shown.map((group, index) => (
            <li key={group.id}>
              <span className={styles.dot} style={{ background: seriesVariable(index) }} />
              <span dir="auto">{nameOf(group)}</span>
            </li>
          ))}
          {groups.length > shown.length && <li data-quiet>{t.moreGroups(groups.length - shown.length)}</li>}
        </ul>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className={styles.scroll} tabIndex={0} aria-label={t.title}>
        <ol className={styles.steps}>
          {steps.map((step, place) => {
            const rule = ruleOf(step.step)
            return (
              <li key={step.step} className={styles.step}>
                <div className={styles.bars}>
                  {shown.map((group, index) => (
                    <StepBar
                      key={group.id}
                      name={isDivided ? nameOf(group) : undefined}
                      colour={seriesVariable(index)}
                      now={group.steps[place]}
                      last={group.steps[place - 1]}
                      before={before.get(group.id)?.steps[place]}
                      rule={rule}
                    />
                  ))}
                </div>
                <h3 className={styles.name} dir="auto" title={step.name}>
                  <span data-quiet>{step.step}</span> {step.name}
                </h3>
                {!isDivided && (
                  <StepFacts now={step} before={before.get(groups[0]?.id ?? '')?.steps[place]} />
                )}
                {rule && !isDivided && (
                  <Link to="/cohorts/$id" params={{ id: 'new' }} search={{ rule }} className={styles.cohort}>
                    <Icon name="people" size={14} /> {t.cohort}
                  </Link>
                )}
                <span className="visually-hidden">
                  {step.medianSeconds !== null &&
                    t.after(formatMeasure(language, 'seconds', step.medianSeconds))}
                </span>
              </li>
            )
          })}
        </ol>
      </section>
    </>
  )
}

const height = (share: number | null | undefined) => `${Math.max(0, Math.min(1, share ?? 0)) * 100}%`

function StepBar({
  name,
  colour,
  now,
  last,
  before,
  rule,
}: {
  readonly name: string | undefined
  readonly colour: string
  readonly now: StepFigures | undefined
  readonly last: StepFigures | undefined
  readonly before: StepFigures | undefined
  readonly rule: object | undefined
}) {
  const t = useTexts(words)
  const say = useTexts(shared)
  const language = useLanguage()
  if (!now) return null
  const share = (value: number | null) => formatMeasure(language, 'ratio', value)
  const title = [name, t.step(now.step, now.name)].filter(Boolean).join(' · ')
  return (
    <PopoverButton
      label={title}
      trigger={
        <AriaButton
          className={styles.bar ?? ''}
          aria-label={`${title}: ${formatMeasure(language, 'integer', now.count)}, ${share(now.fromFirst)}`}
        >
          {last && <span className={styles.lost} style={{ height: height(last.fromFirst), color: colour }} />}
          <span className={styles.reached} style={{ height: height(now.fromFirst), background: colour }} />
          {before && (
            <span
              className={styles.before}
              style={{ bottom: `min(${height(before.fromFirst)}, 100% - 2px)` }}
            />
          )}
        </AriaButton>
      }
    >
      <div className={styles.details}>
        <b dir="auto">{title}</b>
        <dl className={styles.figures}>
          <dt>{t.reached}</dt>
          <dd>{formatMeasure(language, 'integer', now.count)}</dd>
          <dt>{t.fromFirst}</dt>
          <dd>{share(now.fromFirst)}</dd>
          {last && (
            <>
              <dt>{t.fromPrevious}</dt>
              <dd>{share(now.fromPrevious)}</dd>
              <dt>{t.lost}</dt>
              <dd>{formatMeasure(language, 'integer', last.count - now.count)}</dd>
              <dt>{t.median}</dt>
              <dd>{formatMeasure(language, 'seconds', now.medianSeconds)}</dd>
            </>
          )}
          {before && (
            <>
              <dt>{t.before}</dt>
              <dd>
                {formatMeasure(language, 'integer', before.count)} · {share(before.fromFirst)}
              </dd>
            </>
          )}
        </dl>
        {rule && (
          <ButtonLink icon="people" to="/cohorts/$id" params={{ id: 'new' }} search={{ rule } as never}>
            {say.asCohort}
          </ButtonLink>
        )}
      </div>
    </PopoverButton>
  )
}

function StepFacts({ now, before }: { readonly now: StepFigures; readonly before: StepFigures | undefined }) {
  const t = useTexts(words)
  const language = useLanguage()
  return (
    <div className={styles.facts}>
      <p className={styles.share}>
        {formatMeasure(language, 'ratio', now.fromFirst)}{' '}
        <Change now={now.fromFirst} before={before?.fromFirst} />
      </p>
      <p>{formatMeasure(language, 'integer', now.count)}</p>
      {now.step > 1 && (
        <>
          <p data-quiet>{t.ofPrevious(formatMeasure(language, 'ratio', now.fromPrevious))}</p>
          {now.medianSeconds !== null && (
            <p className={styles.time} data-quiet aria-hidden="true">
              <Icon name="clock" size={13} /> {formatMeasure(language, 'seconds', now.medianSeconds)}
            </p>
          )}
        </>
      )}
    </div>
  )
}
