import type { OperationData } from '@millrace/sdk'
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { client } from '../../client.ts'
import { useInstant } from '../../data/view-state.ts'
import { analysis } from '../../texts/analysis.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Badge } from '../../ui/page.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { Described } from './member-picker.tsx'
import type { Query } from './query-state.ts'
import { words } from './texts.ts'
import styles from './why-dialog.module.css'
import { why } from './why-texts.ts'

type Explanation = OperationData<'explainQuery'>

/** What a query asks and of what, as a person reads it. */
export function WhyDialog({ query, onClose }: { readonly query: Query; readonly onClose: () => void }) {
  const t = useTexts(words)
  const explanation = useQuery({
    queryKey: ['explain-query', query],
    queryFn: ({ signal }) => client.explainQuery({ body: query }, { signal }),
  })
  return (
    <Dialog
      title={t.why}
      isOpen
      onClose={onClose}
      width={760}
      end={<CopyAs call={{ operation: 'explainQuery', request: { body: query } }} />}
    >
      <Loaded query={explanation} skeleton={<Skeleton lines={10} />}>
        {(told) => <Told told={told} />}
      </Loaded>
    </Dialog>
  )
}

function Told({ told }: { readonly told: Explanation }) {
  const t = useTexts(why)
  const say = useTexts(analysis)
  return (
    <div className={styles.told}>
      <section>
        <h3>{t.counted}</h3>
        <dl className={styles.members}>
          {told.measures.map((each) => (
            <Fragment key={each.id}>
              <dt>
                <b dir="auto">{each.title}</b>
                <code>{each.id}</code>
              </dt>
              <dd>
                <Described text={each.description} />
                <p className={styles.facts} data-quiet>
                  {each.counted && <span>{t.counts[each.counted]}</span>}
                  {each.parts.length > 0 && (
                    <span>{t.computed(each.parts.map(({ title }) => title).join(', '))}</span>
                  )}
                  {each.exactUpTo !== undefined && (
                    <span>{t.exact(each.exactUpTo, each.relativeError ?? 0)}</span>
                  )}
                  <a href={each.document} target="_blank" rel="noreferrer">
                    {t.document}
                  </a>
                </p>
              </dd>
            </Fragment>
          ))}
          {told.measures.length === 0 && <dd data-quiet>{t.noMeasure}</dd>}
        </dl>
      </section>
      {told.dimensions.length > 0 && (
        <section>
          <h3>{t.grouped}</h3>
          <dl className={styles.members}>
            {told.dimensions.map((each) => (
              <Fragment key={each.id + each.granularity}>
                <dt>
                  <b dir="auto">{each.title}</b>
                  <code dir="auto">{each.id}</code>
                  {each.granularity && <Badge>{say.granularities[each.granularity]}</Badge>}
                </dt>
                <dd>
                  <Described text={each.description} />
                </dd>
              </Fragment>
            ))}
          </dl>
        </section>
      )}
      {told.filters.length > 0 && <Filters told={told} />}
      <Ranges told={told} />
      <Freshness told={told} />
      {told.warnings.length > 0 && (
        <section>
          <h3>{t.warnings}</h3>
          <ul className={styles.list}>
            {told.warnings.map(({ path, message }) => (
              <li key={path + message}>{message}</li>
            ))}
          </ul>
        </section>
      )}
      {told.statement && (
        <details className={styles.statement}>
          <summary>{t.statement}</summary>
          <pre>
            <code>{told.statement.sql}</code>
          </pre>
          <h3>{t.parameters}</h3>
          <pre>
            <code>{JSON.stringify(told.statement.params, null, 2)}</code>
          </pre>
        </details>
      )}
    </div>
  )
}

function Filters({ told }: { readonly told: Explanation }) {
  const t = useTexts(why)
  const { operators } = useTexts(words)
  return (
    <section>
      <h3>{t.filtered}</h3>
      <ul className={styles.list}>
        {told.filters.map(({ path, title, operator, values, meaning, keeps }) => (
          <li key={path}>
            <p>
              <b dir="auto">{title}</b> {operators[operator][values.length > 1 ? 1 : 0]}{' '}
              <b dir="auto">{values.join(', ')}</b>
              {path.includes('.or.') && <Badge>{t.or}</Badge>}
            </p>
            <p data-quiet>
              {t.keeps[keeps]} {meaning}.
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

const wallOf = (local: string | undefined): string | undefined =>
  local?.replace('T', ' ').replace('.000', ' ')

function Ranges({ told }: { readonly told: Explanation }) {
  const t = useTexts(why)
  return (
    <section>
      <h3>{t.when}</h3>
      <ul className={styles.list}>
        {told.ranges.map(({ label, stretches }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: equal ranges may be compared
          <li key={i}>
            {told.ranges.length > 1 && <p data-quiet>{i === 0 ? t.first : t.compared}</p>}
            {stretches.length === 0 && <p>{t.never}</p>}
            {stretches.map(({ from, to, localFrom, localTo }) => (
              <p key={`${from} ${to} ${label}`} className={styles.instants}>
                {from === null && to === null
                  ? t.always
                  : t.stretch(wallOf(localFrom) ?? t.open, wallOf(localTo) ?? t.open)}
              </p>
            ))}
          </li>
        ))}
        <li data-quiet>{t.zone(told.timezone)}</li>
      </ul>
    </section>
  )
}

function Freshness({ told: { freshness, attribution, limit } }: { readonly told: Explanation }) {
  const t = useTexts(why)
  const language = useLanguage()
  const instant = useInstant()
  const { at, lastReceivedAt, lastEventAt } = freshness
  return (
    <section>
      <h3>{t.fresh}</h3>
      <ul className={styles.list}>
        <li>
          {lastReceivedAt === null || lastEventAt === null
            ? t.nothingStored
            : t.received(instant(lastReceivedAt), instant(lastEventAt))}
        </li>
        <li data-quiet>{t.asked(instant(at))}</li>
        {limit !== undefined && <li data-quiet>{t.limit(limit.toLocaleString(language))}</li>}
        {attribution && (
          <li>{t.attribution(attribution.model, attribution.clickHours, attribution.displayHours)}</li>
        )}
      </ul>
    </section>
  )
}
