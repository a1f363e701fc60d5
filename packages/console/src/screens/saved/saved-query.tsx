import { ValidationError } from '@millrace/sdk'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../client.ts'
import { ifMatch, type SavedMeanwhile, savedMeanwhile } from '../../data/conflict.ts'
import { useMay } from '../../data/profile.ts'
import { type Asked, askedText } from '../../data/result.ts'
import { useAnswer, useMeta } from '../../data/statistics.ts'
import { kindsFor } from '../../result/result.ts'
import { ResultView } from '../../result/result-view.tsx'
import { analysis } from '../../texts/analysis.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button, ButtonLink, IconButton } from '../../ui/button.tsx'
import { ConflictDialog } from '../../ui/conflict-dialog.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { RunLedger } from './run-ledger.tsx'
import styles from './saved.module.css'
import { useDelete, useForget, useMayChange, useRunNow } from './saved-actions.ts'
import { type SavedQuery, savedQuery as savedQueryOf } from './saved-queries.ts'
import { ScheduleCard } from './schedule-editor.tsx'
import { saved } from './texts.ts'

export function Screen() {
  const t = useTexts(saved)
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const query = useQuery(savedQueryOf(id))
  return (
    <Page
      title={query.data?.name ?? t.title}
      isWide
      above={<Link to="/saved">{t.title}</Link>}
      actions={query.data && <Actions query={query.data} />}
    >
      <Loaded query={query} skeleton={<Skeleton height={320} />}>
        {(found) => (
          <div className={styles.columns}>
            <div className={styles.column}>
              <Queries query={found} />
              <RunLedger id={id} />
            </div>
            <ScheduleCard query={found} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

/** Answers that are shown at once: each is a question to the service. */
const shownAnswers = 3

function Preview({
  query,
  title,
}: {
  readonly query: SavedQuery['queries'][number]
  readonly title: string
}) {
  const meta = useMeta().data
  const answer = useAnswer(query)
  const asked = query as Asked
  return (
    <div className={styles.preview}>
      <Loaded query={answer} skeleton={<Skeleton height={200} />}>
        {(data) => (
          <ResultView
            title={title}
            asked={asked}
            answer={data}
            meta={meta}
            kind={kindsFor(asked, meta)[0] ?? 'table'}
            height={200}
          />
        )}
      </Loaded>
    </div>
  )
}

function Queries({ query }: { readonly query: SavedQuery }) {
  const t = useTexts(saved)
  const words = useTexts(analysis)
  const meta = useMeta().data
  return (
    <Card title={t.queries}>
      <ol className={styles.queries}>
        {query.queries.map((each, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: equal queries may stand twice
          <li key={i} className={styles.query}>
            <h3 dir="auto">{askedText(each, meta, words)}</h3>
            <ButtonLink
              icon="chart"
              to="/explore"
              search={{ query: each, saved: query.id, ...(i > 0 ? { at: i } : {}) } as never}
            >
              {t.open}
            </ButtonLink>
            {i < shownAnswers && <Preview query={each} title={askedText(each, meta, words)} />}
          </li>
        ))}
      </ol>
    </Card>
  )
}

function Actions({ query }: { readonly query: SavedQuery }) {
  const t = useTexts(saved)
  const run = useRunNow()
  const remove = useDelete({ leaves: true })
  const mayExport = useMay('statistics:export')
  const mayChange = useMayChange(query)
  const [isRenamed, setRenamed] = useState(false)
  return (
    <>
      {mayExport && (
        <Button icon="refresh" isPending={run.isPending} onPress={() => run.mutate(query.id)}>
          {t.runNow}
        </Button>
      )}
      <CopyAs call={{ operation: 'readSavedQuery', request: { params: { id: query.id } } }} />
      {mayChange && (
        <>
          <IconButton icon="edit" label={t.rename} onPress={() => setRenamed(true)} />
          <IconButton icon="trash" label={t.delete} onPress={() => remove.mutate(query)} />
        </>
      )}
      {isRenamed && <Rename query={query} onClose={() => setRenamed(false)} />}
    </>
  )
}

function Rename({ query, onClose }: { readonly query: SavedQuery; readonly onClose: () => void }) {
  const t = useTexts(saved)
  const say = useTexts(common)
  const forget = useForget()
  const [name, setName] = useState(query.name)
  const [conflict, setConflict] = useState<SavedMeanwhile>()
  const save = useMutation({
    mutationFn: (overwrites: boolean) =>
      client.updateSavedQuery({
        params: { id: query.id },
        headers: overwrites ? {} : ifMatch(query.revision),
        body: { name: name.trim() },
      }),
    onSuccess: async () => {
      await forget()
      onClose()
    },
    onError: (error) => setConflict(savedMeanwhile(error)),
  })
  if (conflict)
    return (
      <ConflictDialog
        conflict={conflict}
        onClose={() => setConflict(undefined)}
        onOverwrite={() => save.mutate(true)}
        onReload={() => void forget().then(onClose)}
      />
    )
  const fault = save.error instanceof ValidationError ? save.error.errors[0]?.message : save.error?.message
  return (
    <Dialog
      title={t.rename}
      isOpen
      onClose={onClose}
      end={
        <Button
          kind="main"
          isPending={save.isPending}
          isDisabled={name.trim() === ''}
          onPress={() => save.mutate(false)}
        >
          {say.save}
        </Button>
      }
    >
      <TextField label={t.name} autoFocus value={name} onChange={setName} maxLength={200} fault={fault} />
    </Dialog>
  )
}
