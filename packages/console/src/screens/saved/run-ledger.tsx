import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { pageOf } from '../../data/list-state.ts'
import { useMay } from '../../data/profile.ts'
import { useInstant, useSetView, useView } from '../../data/view-state.ts'
import { saveFile } from '../../result/download.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { type Column, Pages, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './saved.module.css'
import { runsQuery, type SavedQueryRun } from './saved-queries.ts'
import { saved } from './texts.ts'

const kinds = {
  queued: 'plain',
  running: 'accent',
  delivered: 'good',
  failed: 'bad',
  missed: 'warn',
} as const

/** What has run, with results to download and faults in words. */
export function RunLedger({ id }: { readonly id: string }) {
  const t = useTexts(saved)
  const language = useLanguage()
  const instant = useInstant()
  const view = useView()
  const setView = useSetView()
  const page = pageOf(view.runs)
  const runs = useQuery(runsQuery(id, page))
  const columns: Column<SavedQueryRun>[] = [
    {
      id: 'planned',
      title: t.planned,
      cell: (run) => (
        <>
          {instant(run.plannedFor)}
          <div className={styles.reason}>{t.triggers[run.trigger]}</div>
        </>
      ),
    },
    {
      id: 'state',
      title: t.state,
      cell: (run) => (
        <div className={styles.state}>
          <Badge kind={kinds[run.state]}>{t.states[run.state]}</Badge>
          {run.reason !== undefined && <div className={styles.reason}>{run.reason}</div>}
          {run.attempts > 1 && <div className={styles.reason}>{t.attempts(run.attempts)}</div>}
          {run.recipients.length > 0 && (
            <div className={styles.reason}>{t.sentTo(run.recipients.join(', '))}</div>
          )}
          {run.messages.map(({ linkedAccountId, reason }) =>
            reason === undefined ? null : (
              <div key={linkedAccountId} className={styles.reason}>
                {reason}
              </div>
            ),
          )}
        </div>
      ),
    },
    { id: 'rows', title: t.rows, isNumber: true, cell: (run) => run.rows.toLocaleString(language) },
    { id: 'results', title: t.results, cell: (run) => <Results run={run} /> },
  ]
  return (
    <Loaded
      query={runs}
      isEmpty={({ paginationCount }) => paginationCount === 0}
      empty={
        <Card title={t.ledger}>
          <Empty icon="clock" title={t.noRuns}>
            {t.noRunsHint}
          </Empty>
        </Card>
      }
    >
      {({ data, paginationCount }) => (
        <Card title={t.ledger} isFlush>
          <Table label={t.ledger} columns={columns} rows={data} rowKey={(run) => run.id} />
          <Pages
            page={page}
            perPage={10}
            count={paginationCount}
            onPage={(next) => setView({ runs: next === 1 ? undefined : next })}
          />
        </Card>
      )}
    </Loaded>
  )
}

function Results({ run }: { readonly run: SavedQueryRun }) {
  const t = useTexts(saved)
  const instant = useInstant()
  const mayExport = useMay('statistics:export')
  const { resultsUntil } = run
  const isThere = resultsUntil !== undefined && Date.parse(resultsUntil) > Date.now()
  if (!isThere || !mayExport || run.results.length === 0) return null
  const download = async (index: number, name: string) => {
    try {
      const csv = await client.readRunResult({
        params: { id: run.savedQueryId, runId: run.id, index: String(index) },
      })
      saveFile(new Blob([csv as string], { type: 'text/csv' }), name)
    } catch (error) {
      toast.fail(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <div className={styles.results}>
      {run.results.map(({ index, fileName, isCut }) => (
        <Button
          key={index}
          kind="quiet"
          icon="download"
          aria-label={t.download(fileName)}
          onPress={() => void download(index, fileName)}
        >
          {fileName}
          {isCut && <Badge kind="warn">{t.cut}</Badge>}
        </Button>
      ))}
      <span className={styles.reason}>{t.until(instant(resultsUntil, 'day'))}</span>
    </div>
  )
}
