import type { OperationData } from '@millrace/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { companyQuery } from '../../data/company.ts'
import { faultsOf } from '../../data/faults.ts'
import { formatMeasure } from '../../data/format.ts'
import { useMay } from '../../data/profile.ts'
import { useInstant } from '../../data/view-state.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Segments, TextField } from '../../ui/field.tsx'
import form from '../../ui/form.module.css'
import { Card } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './data.module.css'
import { words } from './texts.ts'

type Company = OperationData<'readCompany'>

/** How long events of the company are kept. */
export function RetentionTab() {
  const t = useTexts(words)
  const company = useQuery(companyQuery)
  return (
    <Card
      title={t.tabs.retention}
      actions={<CopyAs call={{ operation: 'previewCompanyRetention', request: { query: { days: 365 } } }} />}
    >
      <Loaded query={company}>{(known) => <RetentionForm company={known} />}</Loaded>
    </Card>
  )
}

function RetentionForm({ company }: { readonly company: Company }) {
  const t = useTexts(words)
  const queries = useQueryClient()
  const mayChange = useMay('company:update')
  const present = company.eventRetentionDays ?? null
  const [isForEver, setForEver] = useState(present === null)
  const [days, setDays] = useState(String(present ?? 365))
  const wanted = isForEver ? null : Number(days)
  const isWhole = wanted === null || /^\d{1,5}$/.test(days)
  const preview = useMutation({
    mutationFn: () => client.previewCompanyRetention({ query: { days: Number(days) } }),
  })
  const save = useMutation({
    mutationFn: () => client.updateCompany({ body: { eventRetentionDays: wanted } }),
    onSuccess: (saved) => {
      queries.setQueryData(companyQuery.queryKey, saved)
      toast.say(t.retentionSaved)
    },
  })
  const fault =
    faultsOf(preview.error).days ??
    faultsOf(save.error).eventRetentionDays ??
    (preview.error ?? save.error)?.message
  return (
    <form
      className={form.form}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Segments
        label={t.keep}
        options={[
          { id: 'ever' as const, label: t.forEver },
          { id: 'days' as const, label: t.someDays },
        ]}
        value={isForEver ? 'ever' : 'days'}
        onChange={(id) => {
          setForEver(id === 'ever')
          preview.reset()
        }}
      />
      {!isForEver && (
        <TextField
          label={t.days}
          hint={t.daysHint}
          type="number"
          inputMode="numeric"
          value={days}
          onChange={(text) => {
            setDays(text)
            preview.reset()
          }}
          fault={fault}
        />
      )}
      {preview.data && <Preview found={preview.data} />}
      <div className={form.end}>
        {!isForEver && (
          <Button icon="search" isDisabled={preview.isPending || !isWhole} onPress={() => preview.mutate()}>
            {t.preview}
          </Button>
        )}
        {mayChange && (
          <Button
            kind="main"
            type="submit"
            isDisabled={save.isPending || !isWhole || wanted === present || (!isForEver && !preview.data)}
          >
            {t.saveRetention}
          </Button>
        )}
      </div>
    </form>
  )
}

function Preview({ found }: { readonly found: OperationData<'previewCompanyRetention'> }) {
  const t = useTexts(words)
  const language = useLanguage()
  const instant = useInstant()
  const count = (events: number) => formatMeasure(language, 'integer', events)
  return (
    <div className={styles.preview} role="status">
      {found.events === 0 ? (
        <p>{t.nothingGoes}</p>
      ) : (
        <>
          <p>
            <strong>{t.wouldRemove(count(found.events), instant(found.before, 'day'))}</strong>
          </p>
          <p>{t.wouldStay(count(found.kept))}</p>
        </>
      )}
      <p data-quiet>{t.undoHours(found.appliesAfterHours)}</p>
      {found.heldBy.length > 0 && (
        <>
          <p>{t.held}</p>
          <ul>
            {found.heldBy.map(({ id, name }) => (
              <li key={id} dir="auto">
                {name}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
