import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../client.ts'
import { companyQuery } from '../../data/company.ts'
import { faultsOf } from '../../data/faults.ts'
import { useMay } from '../../data/profile.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import form from '../../ui/form.module.css'
import { Card } from '../../ui/page.tsx'
import { words } from './texts.ts'

/** For those who may delete all of it. */
export function CloseCompany() {
  const t = useTexts(words)
  const [isOpen, setOpen] = useState(false)
  const may = [useMay('company:update'), useMay('user:delete'), useMay('datasource:delete')]
  const company = useQuery({ ...companyQuery, enabled: !may.includes(false) })
  if (may.includes(false) || !company.data) return null
  return (
    <Card title={t.closeCompany}>
      <p>{t.closeLead}</p>
      <div className={form.end}>
        <Button kind="danger" icon="trash" onPress={() => setOpen(true)}>
          {t.closeCompany}
        </Button>
      </div>
      {isOpen && <CloseDialog name={company.data.name} onClose={() => setOpen(false)} />}
    </Card>
  )
}

function CloseDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const t = useTexts(words)
  const say = useTexts(common)
  const [confirm, setConfirm] = useState('')
  const [code, setCode] = useState('')
  const close = useMutation({
    mutationFn: () => client.closeCompany({ body: { confirm, code } }),
    // No token works any more: the page asks to sign in.
    onSuccess: () => location.reload(),
  })
  const fault = faultsOf(close.error).code ?? close.error?.message
  return (
    <Dialog
      title={t.closeTitle(name)}
      isOpen
      onClose={onClose}
      role="alertdialog"
      end={
        <>
          <Button onPress={onClose}>{say.cancel}</Button>
          <Button
            kind="danger"
            isDisabled={close.isPending || confirm !== name || code === ''}
            onPress={() => close.mutate()}
          >
            {t.closeCompany}
          </Button>
        </>
      }
    >
      <p>{t.closeHint}</p>
      <TextField label={t.companyName} hint={name} value={confirm} onChange={setConfirm} autoComplete="off" />
      <TextField
        label={t.oneTimeCode}
        hint={t.oneTimeCodeHint}
        value={code}
        onChange={setCode}
        autoComplete="one-time-code"
        inputMode="numeric"
        fault={fault}
      />
    </Dialog>
  )
}
