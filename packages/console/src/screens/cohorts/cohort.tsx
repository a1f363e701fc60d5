import { MillraceError } from '@millrace/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { client } from '../../client.ts'
import { formatMeasure, type Meta } from '../../data/format.ts'
import { useMay, useProfile } from '../../data/profile.ts'
import { useMeta } from '../../data/statistics.ts'
import { useView } from '../../data/view-state.ts'
import { Notices } from '../../exploration/exploration-parts.tsx'
import type { Left } from '../../exploration/selection.ts'
import { common } from '../../texts/common.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Page } from '../../ui/page.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import { CohortForm } from './cohort-form.tsx'
import { Members, Uses, useUses } from './cohort-parts.tsx'
import { type Cohort, deleteCohort } from './cohort-save.ts'
import { draftOf, emptyEvent, groupOf } from './rule-draft.ts'
import { words } from './texts.ts'

export function Screen() {
  const { id } = useParams({ strict: false })
  if (id === 'new') return <NewCohort key="new" />
  return <SavedCohort key={id} id={id ?? ''} />
}

function Above() {
  const t = useTexts(words)
  return <Link to="/cohorts">{t.title}</Link>
}

/** Begins with the rule of the address, which other screens fill. */
function NewCohort() {
  const t = useTexts(words)
  const meta = useMeta()
  return (
    <Page title={t.newCohort} above={<Above />}>
      <Loaded query={meta} skeleton={<Skeleton height={320} />}>
        {(known) => <NewEditor meta={known} />}
      </Loaded>
    </Page>
  )
}

function NewEditor({ meta }: { readonly meta: Meta }) {
  const { rule } = useView()
  const { draft, left } = useMemo(() => {
    const gone: Left = []
    const read = rule !== undefined ? draftOf(rule, meta, gone) : groupOf([])
    return { draft: read.of.length > 0 ? read : groupOf([emptyEvent]), left: gone }
  }, [meta, rule])
  return (
    <>
      <Notices left={left} />
      <CohortForm initial={draft} meta={meta} />
    </>
  )
}

function SavedCohort({ id }: { readonly id: string }) {
  const t = useTexts(words)
  const meta = useMeta()
  const query = useQuery({
    queryKey: ['cohort', id],
    queryFn: ({ signal }) => client.readCohort({ params: { id } }, { signal }),
    // What is typed is not replaced while it is looked at.
    refetchOnWindowFocus: false,
  })
  const { data } = query
  return (
    <Page
      title={data?.name ?? t.title}
      above={<Above />}
      lead={data && <Lead cohort={data} />}
      actions={
        data && (
          <>
            <CopyAs call={{ operation: 'readCohort', request: { params: { id } } }} />
            <DeleteButton cohort={data} />
          </>
        )
      }
    >
      <Loaded query={query} skeleton={<Skeleton height={320} />}>
        {(cohort) => (
          <Loaded query={meta} skeleton={<Skeleton height={320} />}>
            {(known) => <Editor key={cohort.revision} cohort={cohort} meta={known} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}

function Lead({ cohort: { kind, listed, ownerId } }: { readonly cohort: Cohort }) {
  const t = useTexts(words)
  const language = useLanguage()
  const mayChange = useMayChange(ownerId)
  return (
    <>
      {kind === 'list' && t.listNow(formatMeasure(language, 'integer', listed))} {!mayChange && t.ofAnother}
    </>
  )
}

function useMayChange(ownerId: string | null): boolean {
  const own = useProfile()?.id
  const mayManage = useMay('statistics:manage')
  return mayManage || (own !== undefined && own === ownerId)
}

function Editor({ cohort, meta }: { readonly cohort: Cohort; readonly meta: Meta }) {
  const mayExport = useMay('statistics:export')
  const mayChange = useMayChange(cohort.ownerId)
  const { draft, left } = useMemo(() => {
    const gone: Left = []
    return { draft: cohort.rule ? draftOf(cohort.rule, meta, gone) : groupOf([]), left: gone }
  }, [cohort.rule, meta])
  return (
    <>
      <Notices left={left} />
      <CohortForm
        before={cohort}
        initial={draft}
        meta={meta}
        isReadOnly={!mayChange}
        aside={<Uses id={cohort.id} />}
      >
        {mayExport && <Members id={cohort.id} />}
      </CohortForm>
    </>
  )
}

/** A cohort that is deleted cannot come back under its id: here a question is asked. */
function DeleteButton({ cohort }: { readonly cohort: Cohort }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const uses = useUses(cohort.id).data?.uses.length ?? 0
  if (!useMayChange(cohort.ownerId)) return null
  const remove = async () => {
    setOpen(false)
    try {
      await deleteCohort(cohort)
      void queries.invalidateQueries({ queryKey: ['cohorts'] })
      toast.say(say.deleted)
      await navigate({ to: '/cohorts', search: {} })
    } catch (error) {
      const isUsed = error instanceof MillraceError && error.is('usedByWorkflows')
      toast.fail(
        isUsed
          ? t.usedBy(error.data.workflows.map(({ name }) => name).join(', '))
          : error instanceof Error
            ? error.message
            : say.failed,
      )
    }
  }
  return (
    <>
      <Button kind="danger" icon="trash" onPress={() => setOpen(true)}>
        {say.delete}
      </Button>
      <Dialog
        title={t.deleteTitle}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        end={
          <>
            <Button onPress={() => setOpen(false)}>{say.cancel}</Button>
            <Button kind="danger" onPress={() => void remove()}>
              {say.delete}
            </Button>
          </>
        }
      >
        <p>{t.deleteHint}</p>
        {uses > 0 && <p>{t.deleteUses(uses)}</p>}
      </Dialog>
    </>
  )
}
