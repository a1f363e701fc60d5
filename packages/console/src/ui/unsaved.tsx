import { useBlocker } from '@tanstack/react-router'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** Asks before what was typed is left unsaved, also when the window is closed. */
export function Unsaved({ isDirty }: { readonly isDirty: boolean }) {
  const t = useTexts(common)
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: isDirty,
    withResolver: true,
  })
  return (
    <Dialog
      title={t.notSaved}
      role="alertdialog"
      isOpen={status === 'blocked'}
      onClose={() => reset?.()}
      end={
        <>
          <Button kind="danger" onPress={() => proceed?.()}>
            {t.leave}
          </Button>
          <Button kind="main" onPress={() => reset?.()}>
            {t.stay}
          </Button>
        </>
      }
    />
  )
}
