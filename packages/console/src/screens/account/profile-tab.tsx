import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { faultsOf } from '../../data/faults.ts'
import { type Profile, type ProfileChange, profileQuery, useUpdateProfile } from '../../data/profile.ts'
import { places } from '../../layout/destinations.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { ComboBox } from '../../ui/combo-box.tsx'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Segments, Select, TextField } from '../../ui/field.tsx'
import form from '../../ui/form.module.css'
import { Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { Unsaved } from '../../ui/unsaved.tsx'
import styles from './account.module.css'
import { words } from './texts.ts'

const fields = ['firstName', 'lastName', 'jobTitle', 'phone'] as const
type Typed = Pick<Profile, (typeof fields)[number]>

const autoComplete = {
  firstName: 'given-name',
  lastName: 'family-name',
  jobTitle: 'organization-title',
  phone: 'tel',
} as const

export function ProfileTab({ profile }: { readonly profile: Profile }) {
  return (
    <div className={styles.columns}>
      <Person profile={profile} />
      <Display profile={profile} />
    </div>
  )
}

function Person({ profile }: { readonly profile: Profile }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const queries = useQueryClient()
  const [typed, setTyped] = useState<Partial<Typed>>({})
  const changed = Object.fromEntries(
    fields.flatMap((field) =>
      typed[field] !== undefined && typed[field] !== profile[field] ? [[field, typed[field]]] : [],
    ),
  ) as ProfileChange
  const isDirty = Object.keys(changed).length > 0
  const save = useMutation({
    mutationFn: (body: ProfileChange) => client.updateProfile({ body }),
    onSuccess: (next) => {
      queries.setQueryData(profileQuery.queryKey, next)
      setTyped({})
      toast.say(say.saved)
    },
    onError: (error) => {
      if (Object.keys(faultsOf(error)).length === 0) toast.fail(error.message)
    },
  })
  const faults = faultsOf(save.error)
  const field = (name: (typeof fields)[number]) => (
    <TextField
      label={t[name]}
      value={typed[name] ?? profile[name]}
      onChange={(value) => setTyped({ ...typed, [name]: value })}
      fault={faults[name]}
      autoComplete={autoComplete[name]}
      maxLength={name === 'phone' ? 50 : 100}
    />
  )
  return (
    <Card title={t.person}>
      <form
        className={form.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (isDirty) save.mutate(changed)
        }}
      >
        <div className={form.pair}>
          {field('firstName')}
          {field('lastName')}
        </div>
        {field('jobTitle')}
        {field('phone')}
        <div className={form.end}>
          <Button kind="main" type="submit" isDisabled={!isDirty || save.isPending}>
            {say.save}
          </Button>
          <CopyAs call={{ operation: 'updateProfile', request: { body: changed } }} />
        </div>
      </form>
      <Unsaved isDirty={isDirty} />
    </Card>
  )
}

const company = 'company'

/** What is seen at once is saved at once. */
function Display({ profile }: { readonly profile: Profile }) {
  const t = useTexts(words)
  const theme = useTexts(places)
  const { mutate } = useUpdateProfile()
  const { timezone } = profile.preferences
  const known = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ...(timezone ? [timezone] : [])])
  return (
    <Card title={t.display}>
      <div className={form.form}>
        <Select
          label={t.language}
          hint={t.languageHint}
          options={[
            { id: company, label: t.asBrowser },
            { id: 'en', label: t.languages.en },
            { id: 'fr', label: t.languages.fr },
          ]}
          value={profile.language ?? company}
          onChange={(id: 'en' | 'fr' | typeof company) => mutate({ language: id === company ? null : id })}
        />
        <div className={styles.setting}>
          <span className={styles.label}>{theme.theme}</span>
          <Segments
            label={theme.theme}
            options={(['system', 'light', 'dark'] as const).map((id) => ({ id, label: theme[id] }))}
            value={profile.theme}
            onChange={(id) => mutate({ theme: id })}
          />
        </div>
        <ComboBox
          label={t.zone}
          hint={t.zoneHint}
          options={[
            { id: company, label: t.asCompany(profile.company.timezone) },
            ...[...known].sort().map((id) => ({ id, label: id.replaceAll('_', ' ') })),
          ]}
          value={timezone ?? company}
          onChange={(id) => mutate({ preferences: { timezone: id === company ? null : id } })}
        />
      </div>
    </Card>
  )
}
