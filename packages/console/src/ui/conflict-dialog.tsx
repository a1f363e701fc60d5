import type { SavedMeanwhile } from '../data/conflict.ts'
import { useProfile } from '../data/profile.ts'
import { useInstant } from '../data/view-state.ts'
import { texts, useTexts } from '../texts/texts.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

const words = texts(
  {
    conflict: 'It was saved meanwhile',
    conflictBy: (who: string, at: string) =>
      `${who} saved it on ${at}, after you opened it. What you typed is still here.`,
    you: 'You, elsewhere,',
    another: 'Another user',
    overwrite: 'Save mine over it',
    reload: 'Take theirs',
  },
  {
    conflict: 'Enregistré entre-temps par un autre',
    conflictBy: (who, at) =>
      `${who} a enregistré une autre version le ${at}, après votre ouverture. Votre saisie est toujours là.`,
    you: 'Vous-même, ailleurs,',
    another: 'Un autre utilisateur',
    overwrite: 'Enregistrer la mienne par-dessus',
    reload: 'Prendre la sienne',
  },
)

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
  const t = useTexts(words)
  const instant = useInstant()
  const isOwn = conflict.userId === useProfile()?.id
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
      <p>{t.conflictBy(isOwn ? t.you : t.another, conflict.at === undefined ? '–' : instant(conflict.at))}</p>
      {!isOwn && <p data-quiet>{conflict.message}</p>}
    </Dialog>
  )
}
