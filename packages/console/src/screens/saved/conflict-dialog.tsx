import type { SavedMeanwhile } from '../../data/conflict.ts'
import { formatInstant } from '../../data/format.ts'
import { useProfile } from '../../data/profile.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { saved } from './texts.ts'

/** Another save came first: whose stays is for the user to say. */
export function ConflictDialog({
  conflict,
  onOverwrite,
  onReload,
  onClose,
}: {
  readonly conflict: SavedMeanwhile
  readonly onOverwrite: () => void
  readonly onReload: () => void
  readonly onClose: () => void
}) {
  const t = useTexts(saved)
  const language = useLanguage()
  const profile = useProfile()
  const who = conflict.userId === profile?.id ? t.you : t.otherUser
  return (
    <Dialog
      title={t.conflict}
      isOpen
      onClose={onClose}
      end={
        <>
          <Button onPress={onReload}>{t.reload}</Button>
          <Button kind="main" onPress={onOverwrite}>
            {t.overwrite}
          </Button>
        </>
      }
    >
      <p>{t.conflictBy(who, conflict.at === undefined ? '–' : formatInstant(language, conflict.at))}</p>
    </Dialog>
  )
}
