import type { OperationData } from '@millrace/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { client } from '../../client.ts'
import { faultsOf } from '../../data/faults.ts'
import { statusOf } from '../../data/query-client.ts'
import { common } from '../../texts/common.ts'
import { useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import form from '../../ui/form.module.css'
import { Badge, Card } from '../../ui/page.tsx'
import { Loaded, Skeleton } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './account.module.css'
import { words } from './texts.ts'

const QrCode = lazy(() => import('./qr-code.tsx'))

const stateKey = ['authenticator']

type Deed = 'enable' | 'renew' | 'disable'

export function OneTimeCodes({ hasPassword }: { readonly hasPassword: boolean }) {
  const t = useTexts(words)
  const state = useQuery({
    queryKey: stateKey,
    queryFn: ({ signal }) => client.readAuthenticator({}, { signal }),
  })
  const [deed, setDeed] = useState<Deed>()
  return (
    <Card
      title={t.codes}
      actions={
        state.data && (
          <Badge kind={state.data.enabled ? 'good' : 'plain'}>{state.data.enabled ? t.on : t.off}</Badge>
        )
      }
    >
      <Loaded query={state}>
        {({ enabled, recoveryCodes }) => (
          <div className={form.form}>
            <p data-quiet>{enabled ? t.codesLeft(recoveryCodes) : t.codesHint}</p>
            {hasPassword && (
              <div className={form.end}>
                {enabled ? (
                  <>
                    <Button onPress={() => setDeed('renew')}>{t.renewCodes}</Button>
                    <Button kind="danger" onPress={() => setDeed('disable')}>
                      {t.turnOff}
                    </Button>
                  </>
                ) : (
                  <Button kind="main" onPress={() => setDeed('enable')}>
                    {t.turnOn}
                  </Button>
                )}
              </div>
            )}
          </div>
        )}
      </Loaded>
      {deed && <DeedDialog deed={deed} onClose={() => setDeed(undefined)} />}
    </Card>
  )
}

/** Asks for the password, then for the first code where there is a secret, then shows the recovery codes once. */
function DeedDialog({ deed, onClose }: { readonly deed: Deed; readonly onClose: () => void }) {
  const t = useTexts(words)
  const queries = useQueryClient()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [offer, setOffer] = useState<OperationData<'offerAuthenticator'>>()
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>()
  const title = { enable: t.turnOn, renew: t.renewCodes, disable: t.turnOff }[deed]
  const step = useMutation({
    mutationFn: async () => {
      if (offer) setRecoveryCodes((await client.confirmAuthenticator({ body: { code } })).recoveryCodes)
      else if (deed === 'enable') setOffer(await client.offerAuthenticator({ body: { password } }))
      else if (deed === 'renew')
        setRecoveryCodes((await client.renewRecoveryCodes({ body: { password } })).recoveryCodes)
      else {
        await client.disableAuthenticator({ body: { password } })
        toast.say(t.turnedOff)
        onClose()
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: stateKey }),
  })
  const { error } = step
  const faults = faultsOf(error)
  const fault = error
    ? statusOf(error) === 403 && !offer
      ? t.wrongPassword
      : (faults.code ?? faults.password ?? error.message)
    : undefined
  if (recoveryCodes)
    return (
      <Dialog
        title={t.recoveryCodes}
        isOpen
        onClose={onClose}
        end={<Kept codes={recoveryCodes} onClose={onClose} />}
      >
        <p>{t.recoveryHint}</p>
        <ul className={styles.codes}>
          {recoveryCodes.map((each) => (
            <li key={each}>
              <code>{each}</code>
            </li>
          ))}
        </ul>
      </Dialog>
    )
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form
        className={form.form}
        onSubmit={(event) => {
          event.preventDefault()
          step.mutate()
        }}
      >
        {offer ? (
          <>
            <p>{t.scan}</p>
            <div className={styles.scan}>
              <Suspense fallback={<Skeleton height={200} />}>
                <QrCode text={offer.address} label={t.qrCode} />
              </Suspense>
              <p data-quiet>{t.typeIn}</p>
              <code className={styles.secret}>{offer.secret}</code>
            </div>
            <TextField
              key="code"
              label={t.firstCode}
              value={code}
              onChange={setCode}
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={40}
              autoFocus
              fault={fault}
            />
          </>
        ) : (
          <TextField
            key="password"
            label={t.currentPassword}
            hint={t.passwordFirst}
            type="password"
            value={password}
            onChange={setPassword}
            autoComplete="current-password"
            autoFocus
            fault={fault}
          />
        )}
        <div className={form.end}>
          <Button
            kind={deed === 'disable' ? 'danger' : 'main'}
            type="submit"
            isDisabled={step.isPending || (offer ? code.trim() : password) === ''}
          >
            {deed === 'enable' && !offer ? t.next : title}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Kept({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) {
  const t = useTexts(words)
  const say = useTexts(common)
  return (
    <>
      <Button
        icon="copy"
        onPress={async () => {
          await navigator.clipboard.writeText(codes.join('\n'))
          toast.say(say.copied)
        }}
      >
        {say.copy}
      </Button>
      <Button kind="main" onPress={onClose}>
        {t.kept}
      </Button>
    </>
  )
}
