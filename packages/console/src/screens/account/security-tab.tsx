import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { faultsOf } from '../../data/faults.ts'
import type { Profile } from '../../data/profile.ts'
import { statusOf } from '../../data/query-client.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import form from '../../ui/form.module.css'
import { Card } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { Unsaved } from '../../ui/unsaved.tsx'
import styles from './account.module.css'
import { OneTimeCodes } from './one-time-codes.tsx'
import { words } from './texts.ts'

export function SecurityTab({ profile }: { readonly profile: Profile }) {
  const t = useTexts(words)
  return (
    <div className={styles.columns}>
      <Card title={t.password}>
        {profile.hasPassword ? <PasswordForm email={profile.email} /> : <p data-quiet>{t.noPassword}</p>}
      </Card>
      <OneTimeCodes hasPassword={profile.hasPassword} />
    </div>
  )
}

function PasswordForm({ email }: { readonly email: string }) {
  const t = useTexts(words)
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [isShown, setShown] = useState(false)
  const change = useMutation({
    mutationFn: () => client.changePassword({ body: { currentPassword: current, newPassword: next } }),
    onSuccess: ({ endedSessions }) => {
      setCurrent('')
      setNext('')
      toast.say(t.passwordChanged(endedSessions))
    },
  })
  const { error } = change
  const faults = faultsOf(error)
  const isWrong = statusOf(error) === 403
  const type = isShown ? 'text' : 'password'
  return (
    <form
      className={form.form}
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate()
      }}
    >
      {/* For password managers. */}
      <input
        className="visually-hidden"
        readOnly
        tabIndex={-1}
        aria-hidden
        autoComplete="username"
        value={email}
      />
      <TextField
        label={t.currentPassword}
        type={type}
        value={current}
        onChange={setCurrent}
        autoComplete="current-password"
        fault={isWrong ? t.wrongPassword : faults.currentPassword}
      />
      <TextField
        label={t.newPassword}
        hint={t.newPasswordHint}
        type={type}
        value={next}
        onChange={setNext}
        autoComplete="new-password"
        fault={faults.newPassword}
      />
      <Checkbox isSelected={isShown} onChange={setShown}>
        {t.showPasswords}
      </Checkbox>
      {error && !isWrong && Object.keys(faults).length === 0 && (
        <p role="alert" className={styles.problem}>
          {error.message}
        </p>
      )}
      <div className={form.end}>
        <Button kind="main" type="submit" isDisabled={!current || !next || change.isPending}>
          {t.changePassword}
        </Button>
      </div>
      <Unsaved isDirty={current !== '' || next !== ''} />
    </form>
  )
}
