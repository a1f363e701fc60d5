import { formatInstant } from '../../data/format.ts'
import { useProfile } from '../../data/profile.ts'
import { common } from '../../texts/common.ts'
import { useLanguage, useTexts } from '../../texts/texts.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { words } from './texts.ts'

/** Data of the failure `savedMeanwhile`. */
export interface SavedMeanwhile {
  readonly revision: number
  readonly updatedAt: string
  readonly lastSavedBy: string | null
  /** What the interface said: it names the user. */
  readonly message: string
}

/** Two saved one cohort: the second one sees it, and chooses. */
export function ConflictDialog({
  conflict,
  onClose,
  onMine,
  onTheirs,
}: {
  readonly conflict: SavedMeanwhile
  readonly onClose: () => void
  readonly onMine: () => void
  readonly onTheirs: () => void
}) {
  const t = useTexts(words)
  const say = useTexts(common)
  const language = useLanguage()
  const own = useProfile()?.id
  const who = conflict.lastSavedBy !== null && conflict.lastSavedBy === own ? t.you : t.another
  return (
    <Dialog
      title={t.conflict}
      isOpen
      onClose={onClose}
      width={560}
      end={
        <>
          <Button onPress={onClose}>{say.cancel}</Button>
          <Button onPress={onTheirs}>{t.theirs}</Button>
          <Button kind="main" onPress={onMine}>
            {t.mine}
          </Button>
        </>
      }
    >
      <p>{t.conflictBy(who.trim(), formatInstant(language, conflict.updatedAt))}</p>
      {who !== t.you && <p data-quiet>{conflict.message}</p>}
    </Dialog>
  )
}
