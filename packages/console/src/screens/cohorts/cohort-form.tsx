import { MillraceError, ValidationError } from '@millrace/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { type SavedMeanwhile, savedMeanwhile } from '../../data/conflict.ts'
import { formatMeasure, type Meta } from '../../data/format.ts'
import { common } from '../../texts/common.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { ConflictDialog } from '../../ui/conflict-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Segments, TextField } from '../../ui/field.tsx'
import { Badge, Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './cohort.module.css'
import { type Cohort, type CohortFields, createCohort, updateCohort } from './cohort-save.ts'
import { ListEditor } from './list-editor.tsx'
import { maxPersons, type PersonList } from './person-list.ts'
import { type GroupDraft, ruleOf } from './rule-draft.ts'
import { GroupEditor } from './rule-editor.tsx'
import { RuleSize, useRuleFault } from './rule-size.tsx'
import { SavedSize } from './saved-size.tsx'
import { words } from './texts.ts'

interface CohortFormProps {
  /** As it was read; absent for a new one. */
  readonly before?: Cohort
  readonly initial: GroupDraft
  readonly meta: Meta
  /** Another user made it, and the role does not allow to change it. */
  readonly isReadOnly?: boolean
  /** What belongs to a saved cohort, below the form. */
  readonly children?: React.ReactNode
  readonly aside?: React.ReactNode
}

/** Name and rule, or list, of a cohort, with its size as one edits. */
export function CohortForm({ before, initial, meta, isReadOnly = false, children, aside }: CohortFormProps) {
  const t = useTexts(words)
  const say = useTexts(common)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [name, setName] = useState(before?.name ?? '')
  const [description, setDescription] = useState(before?.description ?? '')
  const [kind, setKind] = useState<'rule' | 'list'>(before?.kind ?? 'rule')
  const [draft, setDraft] = useState(initial)
  const [list, setList] = useState<PersonList>()
  const [isReplacing, setReplacing] = useState(false)
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({})
  const [conflict, setConflict] = useState<SavedMeanwhile>()
  const [isBusy, setBusy] = useState(false)
  const isLeaving = useRef(false)
  const rule = ruleOf(draft)
  const ruleFault = useRuleFault(rule)
  const isChanged =
    name !== (before?.name ?? '') ||
    description !== (before?.description ?? '') ||
    draft !== initial ||
    list !== undefined
  const isList = kind === 'list'
  const isReady =
    name.trim() !== '' &&
    (isList
      ? before !== undefined || (list !== undefined && list.persons.length > 0)
      : rule !== undefined && ruleFault === undefined) &&
    (list?.persons.length ?? 0) <= maxPersons
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isChanged && !isLeaving.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged && !isLeaving.current,
    withResolver: true,
  })

  const save = async (revision = before?.revision) => {
    const fields: CohortFields = {
      name: name.trim(),
      description,
      kind,
      rule: isList ? undefined : rule,
      persons: isList ? list?.persons : undefined,
    }
    setBusy(true)
    setFaults({})
    try {
      const saved =
        before && revision !== undefined
          ? await updateCohort({ ...before, revision }, fields)
          : await createCohort(fields)
      isLeaving.current = true
      queries.setQueryData(['cohort', saved.id], saved)
      void queries.invalidateQueries({ queryKey: ['cohorts'] })
      void queries.invalidateQueries({ queryKey: ['cohort-people', saved.id] })
      toast.say(before ? say.saved : t.created)
      if (!before) await navigate({ to: '/cohorts/$id', params: { id: saved.id }, search: {}, replace: true })
    } catch (error) {
      const meanwhile = savedMeanwhile(error)
      if (meanwhile) setConflict(meanwhile)
      else setFaults(faultsOf(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <form
      className={styles.layout}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) void save()
      }}
    >
      <div className={styles.column}>
        <Card>
          <div className={styles.fields}>
            <TextField
              label={t.name}
              value={name}
              onChange={setName}
              maxLength={200}
              isReadOnly={isReadOnly}
              fault={faults.name}
              autoFocus={before === undefined}
            />
            <TextField
              label={t.description}
              value={description}
              onChange={setDescription}
              maxLength={2_000}
              isReadOnly={isReadOnly}
              fault={faults.description}
            />
          </div>
        </Card>
        <Card
          title={t.ruleTitle}
          actions={
            before === undefined && (
              <Segments
                label={t.kind}
                options={[
                  { id: 'rule' as const, label: t.byRule },
                  { id: 'list' as const, label: t.byList },
                ]}
                value={kind}
                onChange={setKind}
              />
            )
          }
        >
          {!isList && (
            <fieldset className={styles.rule} disabled={isReadOnly} inert={isReadOnly}>
              <GroupEditor draft={draft} meta={meta} onChange={setDraft} />
            </fieldset>
          )}
          {isList && (before === undefined || isReplacing) && (
            <ListEditor list={list} fault={faults.persons} onChange={setList} />
          )}
          {isList && before !== undefined && !isReadOnly && (
            <div>
              <Button
                onPress={() => {
                  setReplacing(!isReplacing)
                  setList(undefined)
                }}
              >
                {isReplacing ? t.keep : t.replace}
              </Button>
            </div>
          )}
          {faults.other && (
            <p role="alert" className={styles.fault}>
              {faults.other}
            </p>
          )}
        </Card>
      </div>
      <div className={`${styles.column} ${styles.aside}`}>
        <Card title={t.size} actions={isChanged && before && <Badge kind="warn">{t.changedMark}</Badge>}>
          {isList ? <ListSize before={before} list={list} /> : <RuleSize rule={rule} />}
          {!isReadOnly && (
            <Button kind="main" type="submit" isDisabled={!isReady || isBusy || (before && !isChanged)}>
              {before ? say.save : t.create}
            </Button>
          )}
        </Card>
        {aside}
      </div>
      {children && <div className={styles.below}>{children}</div>}
      {conflict && (
        <ConflictDialog
          conflict={conflict}
          onClose={() => setConflict(undefined)}
          onOverwrite={() => {
            setConflict(undefined)
            void save(conflict.revision)
          }}
          onReload={() => {
            isLeaving.current = true
            setConflict(undefined)
            if (before) void queries.invalidateQueries({ queryKey: ['cohort', before.id] })
          }}
        />
      )}
      <Dialog
        title={t.unsavedTitle}
        isOpen={blocker.status === 'blocked'}
        onClose={() => blocker.reset?.()}
        end={
          <>
            <Button onPress={() => blocker.reset?.()}>{say.stay}</Button>
            <Button kind="danger" onPress={() => blocker.proceed?.()}>
              {say.leave}
            </Button>
          </>
        }
      >
        <p>{say.notSaved}</p>
      </Dialog>
    </form>
  )
}

/** Of a list as it was saved, or how many identifiers were given instead. */
function ListSize({
  before,
  list,
}: {
  readonly before: Cohort | undefined
  readonly list: PersonList | undefined
}) {
  const t = useTexts(words)
  const language = useLanguage()
  if (before && !list) return <SavedSize id={before.id} />
  return <p>{t.listRead(formatMeasure(language, 'integer', list?.persons.length ?? 0))}</p>
}

/** What the interface said, by the field that it is about. */
function faultsOf(error: unknown): Readonly<Record<string, string>> {
  if (error instanceof MillraceError && error.is('cohortNameTaken')) return { name: error.message }
  if (error instanceof ValidationError) {
    const fields = ['name', 'description', 'persons']
    return Object.fromEntries(
      error.errors.map(({ path, message }) => [
        fields.find((each) => path === each || path.startsWith(`${each}.`)) ?? 'other',
        fields.includes(path) ? message : `${path}: ${message}`,
      ]),
    )
  }
  return { other: error instanceof Error ? error.message : String(error) }
}
