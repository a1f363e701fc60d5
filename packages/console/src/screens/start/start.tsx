import type { QueryInput } from '@millrace/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { client } from '../../client.ts'
import { type Datasource, logQuery, trackingQuery, useChosenDatasource } from '../../data/datasources.ts'
import { useMay, useProfile } from '../../data/profile.ts'
import type { Asked } from '../../data/result.ts'
import { answerQuery, useMeta } from '../../data/statistics.ts'
import { type Feed as FeedData, useActivity } from '../../data/use-activity.ts'
import { useSetView, useView } from '../../data/view-state.ts'
import { ResultView } from '../../result/result-view.tsx'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Segments, Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import { Feed } from '../live/feed.tsx'
import { useRuleText } from '../live/rule-texts.ts'
import { faultsOf } from './progress.ts'
import { SampleData } from './sample-data.tsx'
import { curlSnippet, type Ids, pageSnippet, programSnippet, testPage } from './snippets.ts'
import styles from './start.module.css'
import { words } from './texts.ts'

const ways = ['page', 'curl', 'program'] as const
type Way = (typeof ways)[number]

const byHour = { dimension: 'events.time', dateRange: 'today', granularity: 'hour' } as const

/** Events are in the statistics about two seconds after they came. */
const askAgainMs = 2_500

/** What went wrong longer ago is for the log. */
const recentMs = 3_600_000

/** The first minutes: send something, see it arrive, see it in a chart. */
export function Screen() {
  const t = useTexts(words)
  const view = useView()
  const { query, all, chosen } = useChosenDatasource(view.datasource)
  const own = all.filter(({ sampleData }) => !sampleData)
  const datasource = own.find(({ id }) => id === chosen?.id) ?? own[0]
  const feed = useActivity(datasource?.id)
  return (
    <Page title={t.title} lead={t.lead}>
      <Loaded query={query}>
        {() => (
          <div className={styles.columns}>
            <div className={styles.column}>
              <div className={styles.send}>
                {datasource ? <Send datasources={own} datasource={datasource} /> : <NoDatasource />}
              </div>
              {datasource && <FirstChart datasource={datasource} />}
              <Next />
            </div>
            <div className={styles.column}>
              {datasource && (
                <div className={styles.arrive}>
                  <Progress datasource={datasource} feed={feed} />
                </div>
              )}
              {datasource && (
                <div className={styles.feed}>
                  <Feed feed={feed} rows={12} />
                </div>
              )}
              <SampleData />
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function NoDatasource() {
  const t = useTexts(words)
  const may = useMay('datasource:create')
  const queries = useQueryClient()
  const create = useMutation({
    mutationFn: () => client.createDatasource({ body: { name: t.createName } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: trackingQuery.queryKey }),
    onError: (error) => toast.fail(error.message),
  })
  return (
    <Card>
      <Empty
        icon="start"
        title={t.noDatasource}
        action={
          may && (
            <Button kind="main" icon="plus" onPress={() => create.mutate()} isDisabled={create.isPending}>
              {t.create}
            </Button>
          )
        }
      >
        {may ? t.noDatasourceHint : t.noRight}
      </Empty>
    </Card>
  )
}

function Send({
  datasources,
  datasource,
}: {
  readonly datasources: readonly Datasource[]
  readonly datasource: Datasource
}) {
  const t = useTexts(words)
  const view = useView()
  const setView = useSetView()
  const companyId = useProfile()?.companyId ?? ''
  const way: Way = ways.find((each) => each === view.way) ?? 'page'
  const ids: Ids = { origin: location.origin, companyId, datasourceId: datasource.id }
  const [orderId] = useState(() => `order-${Date.now()}`)
  const text = { page: pageSnippet, program: programSnippet, curl: (of: Ids) => curlSnippet(of, orderId) }[
    way
  ](ids)
  return (
    <Card
      title={t.send}
      actions={
        <Segments
          label={t.send}
          options={ways.map((id) => ({ id, label: t.ways[id] }))}
          value={way}
          onChange={(next) => setView({ way: next === 'page' ? undefined : next }, true)}
        />
      }
    >
      {datasources.length > 1 && (
        <Select
          label={t.to}
          options={datasources.map(({ id, name }) => ({ id, label: name }))}
          value={datasource.id}
          onChange={(id) => setView({ datasource: id })}
        />
      )}
      <p>{t.how[way]}</p>
      <CodeBlock label={t.labels[way]} text={text} />
      <div className={styles.actions}>
        {way === 'page' && <TestPage ids={ids} />}
        <a href="/docs/collecting" target="_blank" rel="noreferrer">
          {t.moreWays}
        </a>
      </div>
    </Card>
  )
}

function TestPage({ ids }: { readonly ids: Ids }) {
  const t = useTexts(words)
  const download = () => {
    const address = URL.createObjectURL(new Blob([testPage(ids)], { type: 'text/html' }))
    const link = document.createElement('a')
    link.href = address
    link.download = 'millrace-test.html'
    link.click()
    URL.revokeObjectURL(address)
  }
  return (
    <Button icon="download" onPress={download}>
      {t.download}
    </Button>
  )
}

/** What the datasource has brought into the statistics; asked again as something arrives. */
function useReached({ id }: Datasource, stirred: unknown) {
  const of = (source: 'events' | 'purchases') => [
    { member: `${source}.datasource`, operator: 'equals' as const, values: [id] },
  ]
  const queries = useQueryClient()
  const events = answerQuery({
    measures: ['events.count', 'events.identifiedPeople'],
    filters: of('events'),
  } as QueryInput)
  const purchases = answerQuery({ measures: ['purchases.count'], filters: of('purchases') } as QueryInput)
  const [eventRow] = useQuery({ ...events, staleTime: 0 }).data?.rows ?? []
  const [purchaseRow] = useQuery({ ...purchases, staleTime: 0 }).data?.rows ?? []
  const reached = {
    event: Number(eventRow?.['events.count'] ?? 0) > 0,
    person: Number(eventRow?.['events.identifiedPeople'] ?? 0) > 0,
    purchase: Number(purchaseRow?.['purchases.count'] ?? 0) > 0,
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: what arrived is the reason to ask
  useEffect(() => {
    const again = () => {
      void queries.invalidateQueries({ queryKey: ['statistics-query'] })
      void queries.invalidateQueries({ queryKey: ['datasource-log', id] })
    }
    const timers = [askAgainMs, 2 * askAgainMs, 4 * askAgainMs].map((pause) => setTimeout(again, pause))
    return () => timers.forEach(clearTimeout)
  }, [stirred, id, queries])
  return reached
}

function Progress({ datasource, feed }: { readonly datasource: Datasource; readonly feed: FeedData }) {
  const t = useTexts(words)
  const ruleText = useRuleText()
  const reached = useReached(datasource, feed.activity.lastKey)
  const [began] = useState(Date.now)
  const from = new Date(began - recentMs).toISOString()
  const log = useQuery(logQuery(datasource.id, { perPage: 20, from })).data?.data ?? []
  const [now, setNow] = useState(began)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [])
  const faults = faultsOf(feed.activity.entries, log, reached.event, now - began)
  return (
    <Card title={t.happens}>
      <ol className={styles.steps} aria-live="polite">
        {(['event', 'person', 'purchase'] as const).map((step) => {
          const [title, hint] = t.steps[step]
          return (
            <li key={step} className={styles.step} data-done={reached[step]}>
              <span className={styles.tick}>
                <Icon name={reached[step] ? 'check' : 'minus'} size={14} />
                <span className="visually-hidden">{reached[step] ? t.done : t.open}</span>
              </span>
              <span>
                <b>{title}</b>
                <span data-quiet>{hint}</span>
              </span>
            </li>
          )
        })}
      </ol>
      {faults.length > 0 && (
        <section className={styles.faults} aria-label={t.faults}>
          <h3>
            <Icon name="warning" size={16} /> {t.faults}
          </h3>
          <ul>
            {faults.map((fault) => {
              const text =
                fault.kind === 'silent' ? { title: t.silent, fix: t.silentHint } : ruleText(fault.rule)
              return (
                <li key={fault.kind === 'silent' ? 'silent' : fault.rule}>
                  <b>{text.title}</b>
                  {fault.kind === 'rule' && fault.path !== '' && <code> {t.at(fault.path)}</code>}
                  <span data-quiet>{text.fix}</span>
                </li>
              )
            })}
          </ul>
          <Link to="/live" search={{ datasource: datasource.id } as never}>
            {t.seeLog}
          </Link>
        </section>
      )}
    </Card>
  )
}

function FirstChart({ datasource }: { readonly datasource: Datasource }) {
  const t = useTexts(words)
  const may = useMay('statistics:access')
  const meta = useMeta().data
  const query = {
    measures: ['events.count'],
    dimensions: ['events.name'],
    filters: [{ member: 'events.datasource', operator: 'equals', values: [datasource.id] }],
    timeDimensions: [byHour],
    fill: true,
  } as QueryInput & Asked
  const answer = useQuery({ ...answerQuery(query), enabled: may })
  if (!may) return null
  const isThere = answer.data?.rows.some((row) => Number(row['events.count']) > 0) ?? false
  return (
    <Card
      title={t.chart}
      actions={isThere && <CopyAs call={{ operation: 'runQuery', request: { body: query as never } }} />}
    >
      {isThere && answer.data ? (
        <ResultView
          title={t.chartTitle}
          asked={query}
          answer={answer.data}
          meta={meta}
          kind="bar"
          height={220}
          isLastOpen
        />
      ) : (
        <div className={styles.waiting}>
          <Icon name="chart" size={22} />
          <span data-quiet>{t.chartWaits}</span>
        </div>
      )}
    </Card>
  )
}

function Next() {
  const t = useTexts(words)
  const may = useMay('statistics:access')
  const places = [
    ['/', t.overview, t.overviewHint],
    ['/explore', t.explore, t.exploreHint],
    ['/funnels', t.funnels, t.funnelsHint],
  ] as const satisfies readonly (readonly [LinkProps['to'], string, string])[]
  return (
    <Card title={t.next}>
      <ul className={styles.next}>
        {may &&
          places.map(([to, title, hint]) => (
            <li key={to}>
              <Link to={to}>{title}</Link>
              <span data-quiet>{hint}</span>
            </li>
          ))}
        <li>
          <a href="/docs/collecting" target="_blank" rel="noreferrer">
            {t.collecting}
          </a>
          <span data-quiet>{t.collectingHint}</span>
        </li>
      </ul>
    </Card>
  )
}
