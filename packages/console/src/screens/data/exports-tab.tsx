import type { OperationData, OperationRequest } from '@millrace/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { faultsOf } from '../../data/faults.ts'
import { formatBytes, formatMeasure } from '../../data/format.ts'
import { useInstant } from '../../data/view-state.ts'
import { saveFile } from '../../result/download.ts'
import { common } from '../../texts/common.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import form from '../../ui/form.module.css'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './data.module.css'
import { words } from './texts.ts'

type Export = OperationData<'listExports'>[number]
type ExportFile = OperationData<'readExport'>['files'][number]
type Creation = NonNullable<OperationRequest<'createExport'>['body']>

const exportsKey = ['exports']
const isOpen = ({ state }: Export) => state === 'queued' || state === 'running'
const badges = { queued: 'plain', running: 'accent', done: 'good', failed: 'bad' } as const

/** Exports in bulk: what has days is begun here, a query by the interface. */
export function ExportsTab() {
  const t = useTexts(words)
  const queries = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const [deleted, setDeleted] = useState<Export>()
  const exports = useQuery({
    queryKey: exportsKey,
    queryFn: ({ signal }) => client.listExports({ query: { perPage: 100 } }, { signal }),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) ? 2_000 : false),
  })
  const remove = useMutation({
    mutationFn: (id: string) => client.deleteExport({ params: { id } }),
    onError: (error) => toast.fail(error.message),
    onSettled: () => {
      setDeleted(undefined)
      return queries.invalidateQueries({ queryKey: exportsKey })
    },
  })
  const begin = (
    <Button kind="main" icon="download" onPress={() => setMaking(true)}>
      {t.newExport}
    </Button>
  )
  return (
    <Card
      title={t.tabs.exports}
      isFlush
      actions={
        <>
          <CopyAs call={{ operation: 'listExports', request: {} }} />
          {exports.data && exports.data.length > 0 && begin}
        </>
      }
    >
      <Loaded
        query={exports}
        isEmpty={(rows) => rows.length === 0}
        empty={
          <Empty icon="download" title={t.noExports} action={begin}>
            {t.noExportsHint}
          </Empty>
        }
      >
        {(rows) => (
          <ItemList label={t.tabs.exports}>
            {rows.map((row) => (
              <ExportItem key={row.id} row={row} onDelete={() => setDeleted(row)} />
            ))}
          </ItemList>
        )}
      </Loaded>
      {isMaking && <NewExport onClose={() => setMaking(false)} />}
      <Confirm
        title={t.deleteExport}
        action={useTexts(common).delete}
        isOpen={deleted !== undefined}
        isBusy={remove.isPending}
        onClose={() => setDeleted(undefined)}
        onConfirm={() => deleted && remove.mutate(deleted.id)}
      >
        <p>{t.deleteExportHint}</p>
      </Confirm>
    </Card>
  )
}

function ExportItem({ row, onDelete }: { readonly row: Export; readonly onDelete: () => void }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const language = useLanguage()
  const instant = useInstant()
  const [isWide, setWide] = useState(false)
  const { table, format, from, until, state, reason, rows, days, bytes, nextRunAt, expiresAt } = row
  return (
    <>
      <Item
        title={
          <>
            {t.tables[table]}, {t.formats[format]}
            <Badge kind={badges[state]}>{t.states[state]}</Badge>
          </>
        }
        details={[
          ...(from ? [[t.firstDay, from] as const] : []),
          ...(until ? [[t.lastDay, until] as const] : []),
          [t.rows, formatMeasure(language, 'integer', rows)],
          [t.files, formatMeasure(language, 'integer', days)],
          [t.size, formatBytes(language, bytes)],
          ...(nextRunAt ? [[t.next, instant(nextRunAt)] as const] : []),
          ...(expiresAt ? [[t.until, instant(expiresAt, 'day')] as const] : []),
          ...(reason ? [[t.states.failed, reason] as const] : []),
        ]}
        action={
          <div className={styles.row}>
            <IconButton
              icon={isWide ? 'up' : 'down'}
              label={isWide ? t.hideFiles : t.showFiles}
              isDisabled={isOpen(row)}
              onPress={() => setWide(!isWide)}
            />
            <IconButton icon="trash" label={say.delete} onPress={onDelete} />
          </div>
        }
      />
      {isWide && (
        <li className={styles.files}>
          <Files id={row.id} />
        </li>
      )}
    </>
  )
}

function Files({ id }: { readonly id: string }) {
  const t = useTexts(words)
  const language = useLanguage()
  const found = useQuery({
    queryKey: [...exportsKey, id],
    queryFn: ({ signal }) => client.readExport({ params: { id } }, { signal }),
  })
  const download = useMutation({
    mutationFn: async (name: string) => {
      const bytes = await client.downloadExportFile({ params: { id, name } })
      saveFile(new Blob([bytes]), name)
    },
    onError: (error) => toast.fail(error.message),
  })
  const columns: Column<ExportFile>[] = [
    { id: 'name', title: t.files, cell: ({ name }) => <code>{name}</code> },
    {
      id: 'rows',
      title: t.rows,
      isNumber: true,
      cell: ({ rows }) => formatMeasure(language, 'integer', rows),
    },
    { id: 'bytes', title: t.size, isNumber: true, cell: ({ bytes }) => formatBytes(language, bytes) },
    {
      id: 'download',
      title: '',
      isNumber: true,
      cell: ({ name }) => (
        <IconButton
          icon="download"
          label={`${t.download} ${name}`}
          isDisabled={download.isPending}
          onPress={() => download.mutate(name)}
        />
      ),
    },
  ]
  return (
    <Loaded
      query={found}
      isEmpty={({ files }) => files.length === 0}
      empty={
        <p className={styles.none} data-quiet>
          {t.noFiles}
        </p>
      }
    >
      {({ files }) => <Table label={t.files} columns={columns} rows={files} rowKey={({ name }) => name} />}
    </Loaded>
  )
}

const monthAgo = () => new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10)

function NewExport({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const queries = useQueryClient()
  const [table, setTable] = useState<Creation['table']>('events')
  const [format, setFormat] = useState<NonNullable<Creation['format']>>('parquet')
  const [from, setFrom] = useState(monthAgo)
  const [until, setUntil] = useState('')
  const [often, setOften] = useState<'once' | 'daily'>('once')
  const make = useMutation({
    mutationFn: () =>
      client.createExport({
        body: { table, format, from, ...(until && { until }), ...(often === 'daily' && { everyHours: 24 }) },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: exportsKey })
      toast.say(t.begun)
      onClose()
    },
  })
  const faults = faultsOf(make.error)
  const other = make.error && Object.keys(faults).length === 0 ? make.error.message : undefined
  return (
    <Dialog title={t.newExport} isOpen onClose={onClose}>
      <form
        className={form.form}
        onSubmit={(event) => {
          event.preventDefault()
          make.mutate()
        }}
      >
        <div className={form.pair}>
          <Select
            label={t.table}
            options={(['events', 'orders', 'sessions'] as const).map((id) => ({ id, label: t.tables[id] }))}
            value={table}
            onChange={setTable}
          />
          <Select
            label={t.format}
            options={(['parquet', 'ndjson', 'csv'] as const).map((id) => ({ id, label: t.formats[id] }))}
            value={format}
            onChange={setFormat}
          />
        </div>
        <div className={form.pair}>
          <TextField label={t.firstDay} type="date" value={from} onChange={setFrom} fault={faults.from} />
          <TextField
            label={t.lastDay}
            hint={t.lastDayHint}
            type="date"
            value={until}
            onChange={setUntil}
            fault={faults.until}
          />
        </div>
        <Select
          label={t.often}
          options={(['once', 'daily'] as const).map((id) => ({ id, label: t[id] }))}
          value={often}
          onChange={setOften}
          fault={other}
        />
        <div className={form.end}>
          <Button kind="main" type="submit" isDisabled={make.isPending || from === ''}>
            {t.begin}
          </Button>
          <Button onPress={onClose}>{say.cancel}</Button>
        </div>
      </form>
    </Dialog>
  )
}
