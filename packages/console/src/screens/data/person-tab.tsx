import type { OperationData } from '@millrace/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { faultsOf } from '../../data/faults.ts'
import { formatMeasure } from '../../data/format.ts'
import { useMay } from '../../data/profile.ts'
import { useInstant } from '../../data/view-state.ts'
import { saveFile } from '../../result/download.ts'
import { common } from '../../texts/common.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import form from '../../ui/form.module.css'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './data.module.css'
import { words } from './texts.ts'

const kinds = ['clientIds', 'tmpIds', 'orders', 'emails'] as const
type Kind = (typeof kinds)[number]
type Reference = Partial<Record<Kind, string[]>>
type Match = OperationData<'findPerson'>

const erasuresKey = ['person-erasures']

/** What is stored of one person: seeing, exporting and erasing it. */
export function PersonTab() {
  const t = useTexts(words)
  const [kind, setKind] = useState<Kind>('clientIds')
  const [identifier, setIdentifier] = useState('')
  const reference: Reference = { [kind]: [identifier.trim()] }
  const search = useMutation({ mutationFn: (asked: Reference) => client.findPerson({ body: asked }) })
  const asked = search.variables
  const isSame = JSON.stringify(asked) === JSON.stringify(reference)
  return (
    <>
      <Card
        title={t.tabs.person}
        actions={<CopyAs call={{ operation: 'findPerson', request: { body: reference } }} />}
      >
        <form
          className={form.form}
          onSubmit={(event) => {
            event.preventDefault()
            search.mutate(reference)
          }}
        >
          <div className={form.pair}>
            <Select
              label={t.by}
              options={kinds.map((id) => ({ id, label: t.kinds[id] }))}
              value={kind}
              onChange={setKind}
            />
            <TextField
              label={t.identifier}
              value={identifier}
              onChange={setIdentifier}
              autoComplete="off"
              fault={search.error ? (faultsOf(search.error)[`${kind}.0`] ?? search.error.message) : undefined}
            />
          </div>
          <div className={form.end}>
            <Button
              kind="main"
              icon="search"
              type="submit"
              isDisabled={search.isPending || !identifier.trim()}
            >
              {t.find}
            </Button>
          </div>
        </form>
        {search.data && asked && isSame && (
          <Found match={search.data} reference={asked} onErased={search.reset} />
        )}
      </Card>
      <Receipts />
    </>
  )
}

function Found({
  match,
  reference,
  onErased,
}: {
  readonly match: Match
  readonly reference: Reference
  readonly onErased: () => void
}) {
  const t = useTexts(words)
  const language = useLanguage()
  const instant = useInstant()
  const mayExport = useMay('statistics:export')
  const [isErasing, setErasing] = useState(false)
  const download = useMutation({
    mutationFn: () => client.exportPerson({ body: reference }),
    onSuccess: (rows) => saveFile(new Blob([rows]), 'person.ndjson'),
    onError: (error) => toast.fail(error.message),
  })
  if (match.events + match.rows === 0)
    return (
      <p className={styles.preview} role="status">
        {t.nothingStored}
      </p>
    )
  const count = (value: number) => formatMeasure(language, 'integer', value)
  return (
    <div className={styles.preview} role="status">
      <strong>
        {count(match.events)} {t.foundEvents(match.events)}
      </strong>
      <dl className={styles.facts}>
        {(
          [
            [t.purchases, count(match.purchases)],
            [t.persons, count(match.persons)],
            [t.devices, count(match.devices)],
            ...(match.rows > 0 ? [[t.datasourceRows, count(match.rows)] as const] : []),
            [t.from, match.earliest ? instant(match.earliest) : ''],
            [t.to, match.latest ? instant(match.latest) : ''],
          ] as const
        ).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className={form.end}>
        {mayExport && (
          <Button icon="download" isDisabled={download.isPending} onPress={() => download.mutate()}>
            {t.exportPerson}
          </Button>
        )}
        <Button kind="danger" icon="trash" onPress={() => setErasing(true)}>
          {t.erase}
        </Button>
      </div>
      {isErasing && (
        <EraseDialog
          match={match}
          reference={reference}
          onClose={() => setErasing(false)}
          onErased={() => {
            setErasing(false)
            onErased()
          }}
        />
      )}
    </div>
  )
}

function EraseDialog({
  match,
  reference,
  onClose,
  onErased,
}: {
  readonly match: Match
  readonly reference: Reference
  readonly onClose: () => void
  readonly onErased: () => void
}) {
  const t = useTexts(words)
  const say = useTexts(common)
  const queries = useQueryClient()
  const [typed, setTyped] = useState('')
  const erase = useMutation({
    mutationFn: () =>
      client.erasePerson({ body: { ...reference, ...(match.confirm && { confirm: typed }) } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: erasuresKey })
      toast.say(t.erasing)
      onErased()
    },
    onError: (error) => toast.fail(error.message),
  })
  return (
    <Dialog
      title={t.eraseTitle}
      isOpen
      onClose={onClose}
      role="alertdialog"
      end={
        <>
          <Button onPress={onClose}>{say.cancel}</Button>
          <Button
            kind="danger"
            isDisabled={erase.isPending || (match.confirm !== null && typed !== match.confirm)}
            onPress={() => erase.mutate()}
          >
            {t.erase}
          </Button>
        </>
      }
    >
      <p>{t.eraseHint}</p>
      {match.confirm !== null && (
        <TextField label={t.typeIn(match.confirm)} value={typed} onChange={setTyped} autoComplete="off" />
      )}
    </Dialog>
  )
}

/** They hold nothing of the persons. */
function Receipts() {
  const t = useTexts(words)
  const language = useLanguage()
  const instant = useInstant()
  const receipts = useQuery({
    queryKey: erasuresKey,
    queryFn: ({ signal }) => client.listPersonErasures({ query: { perPage: 20 } }, { signal }),
    refetchInterval: ({ state }) => (state.data?.some((each) => each.state === 'queued') ? 3_000 : false),
  })
  return (
    <Card title={t.receipts} isFlush>
      <Loaded
        query={receipts}
        isEmpty={(rows) => rows.length === 0}
        empty={
          <p className={styles.none} data-quiet>
            {t.noReceipts}
          </p>
        }
      >
        {(rows) => (
          <ItemList label={t.receipts}>
            {rows.map(({ id, state, requestedAt, finishedAt, removed }) => (
              <Item
                key={id}
                title={
                  <>
                    <code>{id}</code>
                    <Badge kind={state === 'done' ? 'good' : 'accent'}>{t.states[state]}</Badge>
                  </>
                }
                details={[
                  [t.requested, instant(requestedAt)],
                  ...(finishedAt ? [[t.finished, instant(finishedAt)] as const] : []),
                  ...(removed
                    ? [
                        [
                          t.removedRows,
                          formatMeasure(
                            language,
                            'integer',
                            Object.values(removed).reduce((sum, each) => sum + each, 0),
                          ),
                        ] as const,
                      ]
                    : []),
                ]}
              />
            ))}
          </ItemList>
        )}
      </Loaded>
    </Card>
  )
}
