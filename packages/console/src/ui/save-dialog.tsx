import { ValidationError } from '@millrace/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ifMatch, savedMeanwhile } from '../data/conflict.ts'
import { common } from '../texts/common.ts'
import { texts, useTexts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { ConflictDialog } from './conflict-dialog.tsx'
import { Dialog } from './dialog.tsx'
import { TextField } from './field.tsx'
import { toast } from './toast.tsx'

const words = texts(
  { save: 'Save', saveAs: 'Save as a new one', saveChanges: 'Save the changes', name: 'Name' },
  {
    save: 'Enregistrer',
    saveAs: 'Enregistrer sous un nouveau nom',
    saveChanges: 'Enregistrer les modifications',
    name: 'Nom',
  },
)

interface SaveDialogProps<Saved> {
  /** What the name is at first. */
  readonly title: string
  /** What was opened, where the user may save over it. */
  readonly opened: { readonly name: string; readonly revision: number } | undefined
  readonly create: (name: string) => Promise<Saved>
  readonly update: (name: string, headers: Partial<ReturnType<typeof ifMatch>>) => Promise<Saved>
  readonly onSaved: (saved: Saved) => void
  /** What is stored is to be read again. */
  readonly onReload: () => Promise<unknown>
  readonly onClose: () => void
}

/** Saves under a name, or over what was opened: where another save came first, the user says whose stays. */
export function SaveDialog<Saved>(props: SaveDialogProps<Saved>) {
  const { title, opened, onSaved, onReload, onClose } = props
  const t = useTexts(words)
  const say = useTexts(common)
  const [name, setName] = useState(opened?.name ?? title.slice(0, 200))
  const onSuccess = (saved: Saved) => {
    toast.say(say.saved)
    onSaved(saved)
    onClose()
  }
  const create = useMutation({ mutationFn: () => props.create(name.trim()), onSuccess })
  const update = useMutation({
    mutationFn: (revision: number | undefined) =>
      props.update(name.trim(), revision === undefined ? {} : ifMatch(revision)),
    onSuccess,
  })
  const conflict = savedMeanwhile(update.error)
  if (conflict)
    return (
      <ConflictDialog
        conflict={conflict}
        onClose={() => update.reset()}
        onOverwrite={() => update.mutate(undefined)}
        onReload={() => void onReload().then(onClose)}
      />
    )
  const error = create.error ?? update.error
  const fault =
    error instanceof ValidationError ? error.errors.map(({ message }) => message).join('; ') : error?.message
  const isBusy = create.isPending || update.isPending
  const isNamed = name.trim() !== ''
  const submit = () => (opened ? update.mutate(opened.revision) : create.mutate())
  return (
    <Dialog
      title={t.save}
      isOpen
      onClose={onClose}
      end={
        <>
          {opened && (
            <Button isDisabled={!isNamed} isPending={isBusy} onPress={() => create.mutate()}>
              {t.saveAs}
            </Button>
          )}
          <Button kind="main" isDisabled={!isNamed} isPending={isBusy} onPress={submit}>
            {opened ? t.saveChanges : t.save}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (isNamed && !isBusy) submit()
        }}
      >
        <TextField label={t.name} autoFocus value={name} onChange={setName} maxLength={200} fault={fault} />
      </form>
    </Dialog>
  )
}
