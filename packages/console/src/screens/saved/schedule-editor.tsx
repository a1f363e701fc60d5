import { ValidationError } from '@millrace/sdk'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { client } from '../../client.ts'
import { ifMatch, type SavedMeanwhile, savedMeanwhile } from '../../data/conflict.ts'
import { useMay, useProfile } from '../../data/profile.ts'
import { common } from '../../texts/common.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { ConflictDialog } from '../../ui/conflict-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, Select, Switch, TextField } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './saved.module.css'
import { useForget, useMayChange } from './saved-actions.ts'
import type { SavedQuery } from './saved-queries.ts'
import { draftOf, faultOf, type ScheduleDraft, scheduleOf } from './schedule-draft.ts'
import { scheduleText, weekdayNames } from './schedule-words.ts'
import { saved } from './texts.ts'

export function ScheduleCard({ query }: { readonly query: SavedQuery }) {
  const t = useTexts(saved)
  const language = useLanguage()
  const mayExport = useMay('statistics:export')
  const mayChange = useMayChange(query)
  return (
    <Card title={t.schedule}>
      {query.pausedReason !== undefined && (
        <p className={styles.note} role="status">
          {t.pausedBecause(query.pausedReason)}
        </p>
      )}
      {mayExport && mayChange ? (
        // Another revision is another form: what was typed into the former one was saved or given up.
        <Editor key={query.revision} query={query} />
      ) : (
        <>
          <p>{scheduleText(query.schedule, language, t)}</p>
          <p data-quiet>{mayChange ? t.noExport : t.notYours}</p>
        </>
      )}
    </Card>
  )
}

function Editor({ query }: { readonly query: SavedQuery }) {
  const t = useTexts(saved)
  const say = useTexts(common)
  const language = useLanguage()
  const email = useProfile()?.email ?? ''
  const forget = useForget()
  const before = draftOf(query.schedule, email)
  const [draft, setDraft] = useState(before)
  const [conflict, setConflict] = useState<SavedMeanwhile>()
  const isChanged = JSON.stringify(draft) !== JSON.stringify(before)
  const put = (change: Partial<ScheduleDraft>) => setDraft({ ...draft, ...change })
  const save = useMutation({
    mutationFn: (overwrites: boolean) =>
      client.updateSavedQuery({
        params: { id: query.id },
        headers: overwrites ? {} : ifMatch(query.revision),
        body: { schedule: scheduleOf(draft) },
      }),
    onSuccess: async () => {
      setConflict(undefined)
      toast.say(t.saved)
      await forget()
    },
    onError: (error) => {
      const meanwhile = savedMeanwhile(error)
      if (meanwhile) setConflict(meanwhile)
      else if (!(error instanceof ValidationError)) toast.fail(error.message)
    },
  })
  const faults = save.error instanceof ValidationError ? save.error.errors : []
  const blocker = useBlocker({
    shouldBlockFn: () => isChanged && !save.isPending && !save.isSuccess,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  const accounts = useQuery({
    queryKey: ['linked-accounts'],
    queryFn: ({ signal }) => client.listLinkedAccounts({}, { signal }),
  })
  const names = weekdayNames(language, 'short')
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(false)
      }}
    >
      <Switch isSelected={draft.enabled} onChange={(enabled) => put({ enabled })}>
        {t.enabled}
      </Switch>
      <div className={styles.pair}>
        <Select
          label={t.frequency}
          options={(['daily', 'weekly', 'monthly', 'custom'] as const).map((id) => ({
            id,
            label: t.frequencies[id],
          }))}
          value={draft.frequency}
          onChange={(frequency) => put({ frequency })}
          fault={faultOf(faults, 'frequency')}
        />
        {draft.frequency === 'custom' ? (
          <TextField
            label={t.cron}
            value={draft.cron}
            onChange={(cron) => put({ cron })}
            fault={faultOf(faults, 'cron')}
          />
        ) : (
          <TextField
            label={t.time}
            type="time"
            value={draft.time}
            onChange={(time) => put({ time })}
            fault={faultOf(faults, 'time')}
          />
        )}
      </div>
      {draft.frequency === 'custom' && <p className={styles.reason}>{t.cronHint}</p>}
      {draft.frequency === 'weekly' && (
        <fieldset className={styles.weekdays}>
          <legend>{t.weekdays}</legend>
          {names.map((name, i) => (
            <Checkbox
              key={name}
              isSelected={draft.weekdays.includes(i + 1)}
              onChange={(isOn) =>
                put({
                  weekdays: isOn ? [...draft.weekdays, i + 1] : draft.weekdays.filter((day) => day !== i + 1),
                })
              }
            >
              {name}
            </Checkbox>
          ))}
          {faultOf(faults, 'weekdays') && <p className={styles.note}>{faultOf(faults, 'weekdays')}</p>}
        </fieldset>
      )}
      {draft.frequency === 'monthly' && (
        <TextField
          label={t.days}
          hint={t.daysHint}
          value={draft.days}
          onChange={(days) => put({ days })}
          fault={faultOf(faults, 'days')}
        />
      )}
      <TextField
        label={t.timezone}
        hint={t.timezoneHint}
        value={draft.timezone}
        onChange={(timezone) => put({ timezone })}
        fault={faultOf(faults, 'timezone')}
      />
      <TextField
        label={t.recipients}
        hint={t.recipientsHint}
        lines={3}
        value={draft.recipients}
        onChange={(recipients) => put({ recipients })}
        fault={faultOf(faults, 'recipients')}
      />
      {(accounts.data?.length ?? 0) > 0 && (
        <fieldset className={styles.weekdays}>
          <legend>{t.linkedAccounts}</legend>
          {accounts.data?.map(({ id, name, host }) => (
            <Checkbox
              key={id}
              isSelected={draft.linkedAccounts.includes(id)}
              onChange={(isOn) =>
                put({
                  linkedAccounts: isOn
                    ? [...draft.linkedAccounts, id]
                    : draft.linkedAccounts.filter((each) => each !== id),
                })
              }
            >
              <span dir="auto">{name}</span> <span data-quiet>{host}</span>
            </Checkbox>
          ))}
        </fieldset>
      )}
      <NextRuns draft={draft} />
      <div className={styles.end}>
        <Button kind="main" type="submit" isPending={save.isPending} isDisabled={!isChanged}>
          {t.save}
        </Button>
        {isChanged && <Button onPress={() => setDraft(before)}>{say.cancel}</Button>}
      </div>
      {conflict && (
        <ConflictDialog
          conflict={conflict}
          onClose={() => setConflict(undefined)}
          onOverwrite={() => save.mutate(true)}
          onReload={() => {
            setConflict(undefined)
            void forget()
          }}
        />
      )}
      {blocker.status === 'blocked' && (
        <Dialog
          title={t.unsaved}
          isOpen
          onClose={blocker.reset}
          end={
            <>
              <Button onPress={blocker.proceed}>{say.leave}</Button>
              <Button kind="main" onPress={blocker.reset}>
                {say.stay}
              </Button>
            </>
          }
        >
          <p>{say.notSaved}</p>
        </Dialog>
      )}
    </form>
  )
}

/** When the schedule would run, as it is edited. */
function NextRuns({ draft }: { readonly draft: ScheduleDraft }) {
  const t = useTexts(saved)
  const language = useLanguage()
  const { recipients, linkedAccounts, ...times } = scheduleOf(useDeferredValue(draft))
  const preview = useQuery({
    queryKey: ['preview-schedule', times],
    queryFn: ({ signal }) => client.previewSchedule({ body: times }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const runs = preview.data ?? []
  return (
    <section className={styles.next} aria-live="polite">
      <h3>{t.nextRuns}</h3>
      {preview.error instanceof ValidationError ? (
        <p>
          {t.nextRunsFailed} {preview.error.errors.map(({ message }) => message).join('; ')}
        </p>
      ) : runs.length === 0 ? (
        <p data-quiet>{preview.isPending ? '…' : t.noNextRuns}</p>
      ) : (
        <ol>
          {runs.slice(0, 5).map(({ at, local }) => (
            <li key={at}>{localText(language, local)}</li>
          ))}
        </ol>
      )}
    </section>
  )
}

/** The wall clock of the schedule's zone, read from the text and not in the zone of the browser. */
function localText(language: 'en' | 'fr', local: string): string {
  const wall = new Date(`${local.slice(0, 19)}Z`)
  const day = new Intl.DateTimeFormat(language, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    hourCycle: 'h23',
  }).format(wall)
  const offset = local.slice(23)
  return `${day} (${offset === '+00:00' ? 'UTC' : `UTC${offset}`})`
}
