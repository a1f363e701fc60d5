import { eventRules, isRuleId } from '@millrace/contract/events/rules.ts'
import { datasourceLogKinds } from '@millrace/contract/resources/datasource-log.ts'
import { useQuery } from '@tanstack/react-query'
import { type LogEntry, logQuery } from '../../data/datasources.ts'
import { pageOf } from '../../data/list-state.ts'
import { useInstant, useSetView, useView } from '../../data/view-state.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Select } from '../../ui/field.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { type Column, Pages, Table } from '../../ui/table.tsx'
import { outcomeKinds } from './feed.tsx'
import styles from './live.module.css'
import { useRuleText } from './rule-texts.ts'
import { words } from './texts.ts'

const perPage = 25

/** The log of a datasource, by kind and rule, page by page in the address. */
export function Log({ datasourceId }: { readonly datasourceId: string }) {
  const t = useTexts(words)
  const language = useLanguage()
  const instant = useInstant()
  const ruleText = useRuleText()
  const view = useView()
  const setView = useSetView()
  const kind = datasourceLogKinds.find((each) => each === view.kind)
  const rule = typeof view.rule === 'string' && isRuleId(view.rule) ? view.rule : undefined
  const page = pageOf(view.page)
  const query = { page, perPage, ...(kind && { kind }), ...(rule && { rule }) }
  const answer = useQuery({ ...logQuery(datasourceId, query), refetchInterval: 10_000 })
  const rules = Object.entries(eventRules).filter(([, { effect }]) => kind === undefined || effect === kind)
  const columns: Column<LogEntry>[] = [
    {
      id: 'receivedAt',
      title: t.columns.receivedAt,
      cell: ({ receivedAt }) => (
        <time className={styles.when} dateTime={receivedAt}>
          {instant(receivedAt)}
        </time>
      ),
    },
    {
      id: 'kind',
      title: t.columns.kind,
      cell: (row) => <Badge kind={outcomeKinds[row.kind]}>{t.kinds[row.kind]}</Badge>,
    },
    {
      id: 'rule',
      title: t.columns.rule,
      cell: (row) => {
        const { title, fix } = ruleText(row.rule)
        return (
          <div className={styles.rule}>
            {title}
            {fix && <span>{fix}</span>}
          </div>
        )
      },
    },
    {
      id: 'path',
      title: t.columns.path,
      cell: ({ path }) => (path === '' ? <span data-quiet>{t.whole}</span> : <code>{path}</code>),
    },
    { id: 'sample', title: t.columns.sample, cell: ({ sample }) => <code>{sample}</code> },
    {
      id: 'count',
      title: t.columns.count,
      isNumber: true,
      cell: ({ count }) => new Intl.NumberFormat(language).format(count),
    },
  ]
  return (
    <Card
      isFlush
      title={t.log}
      actions={
        <>
          <div className={styles.filters}>
            <Select
              label={t.kind}
              hidesLabel
              options={[
                { id: 'all', label: t.allKinds },
                ...datasourceLogKinds.map((id) => ({ id, label: t.kinds[id] })),
              ]}
              value={kind ?? 'all'}
              onChange={(next: string) =>
                setView({ kind: next === 'all' ? undefined : next, rule: undefined, page: undefined })
              }
            />
            <Select
              label={t.rule}
              hidesLabel
              options={[
                { id: 'all', label: t.allRules },
                ...rules.map(([id]) => ({ id, label: ruleText(id).title, hint: id })),
              ]}
              value={rule ?? 'all'}
              onChange={(next: string) =>
                setView({ rule: next === 'all' ? undefined : next, page: undefined })
              }
            />
          </div>
          <CopyAs
            call={{ operation: 'listDatasourceLogs', request: { params: { id: datasourceId }, query } }}
          />
        </>
      }
    >
      <Loaded
        query={answer}
        isEmpty={({ data }) => data.length === 0}
        empty={
          <Empty icon="check" title={kind || rule ? t.emptyFilter : t.emptyLog}>
            {t.emptyLogHint}
          </Empty>
        }
      >
        {({ data, paginationCount }) => (
          <>
            <Table label={t.log} columns={columns} rows={data} rowKey={({ id }) => id} />
            <Pages
              page={page}
              perPage={perPage}
              count={paginationCount}
              onPage={(next) => setView({ page: next === 1 ? undefined : next })}
            />
          </>
        )}
      </Loaded>
    </Card>
  )
}
