import { useQuery } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { useProfile } from '../../data/profile.ts'
import { useInstant } from '../../data/view-state.ts'
import { useTexts } from '../../texts/texts.ts'
import type { Dashboard, Tile } from '../../tiles/tile.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/state.tsx'
import styles from './conflict.module.css'
import { type Content, differencesOf } from './differences.ts'
import { words } from './texts.ts'
import { useTileName } from './tile-title.ts'

interface ConflictProps {
  /** What the service says: who saved it meanwhile, and when. */
  readonly message: string
  /** What the own changes began with. */
  readonly base: Dashboard
  readonly mine: Content
  readonly onTake: (theirs: Dashboard) => void
  readonly onCopy: () => void
  readonly onClose: () => void
}

/** Two saved one dashboard: shows both, and lets the second choose. */
export function Conflict({ message, base, mine, onTake, onCopy, onClose }: ConflictProps) {
  const t = useTexts(words)
  const instant = useInstant()
  const userId = useProfile()?.id
  const theirs = useQuery({
    queryKey: ['dashboard-meanwhile', base.id],
    queryFn: ({ signal }): Promise<Dashboard> =>
      client.readDashboard({ params: { id: base.id } }, { signal }),
    gcTime: 0,
    staleTime: 0,
  })
  const whoOf = ({ lastSavedBy }: Dashboard, you: string) => (lastSavedBy === userId ? you : t.someone)
  return (
    <Dialog
      title={t.conflict}
      isOpen
      onClose={onClose}
      width={680}
      end={
        <>
          <Button onPress={onClose}>{t.keepEditing}</Button>
          <Button isDisabled={!theirs.data} onPress={() => theirs.data && onTake(theirs.data)}>
            {t.takeTheirs}
          </Button>
          <Button kind="main" onPress={onCopy}>
            {t.saveCopy}
          </Button>
        </>
      }
    >
      <p>{t.conflictLead}</p>
      <p data-quiet>{message}</p>
      <div className={styles.sides}>
        <section className={styles.side}>
          <h3>{t.theirs}</h3>
          <Loaded query={theirs}>
            {(saved) => (
              <>
                <p data-quiet>{t.savedBy(whoOf(saved, t.you), instant(saved.updatedAt))}</p>
                <Changes before={base} after={saved} />
              </>
            )}
          </Loaded>
        </section>
        <section className={styles.side}>
          <h3>{t.mine}</h3>
          <p data-quiet>{t.basedOn(whoOf(base, t.youBefore), instant(base.updatedAt))}</p>
          <Changes before={base} after={mine} />
        </section>
      </div>
    </Dialog>
  )
}

function Changes({ before, after }: { readonly before: Content; readonly after: Content }) {
  const { differences: t } = useTexts(words)
  const nameOf = useTileName()
  const { added, removed, changed, areMoved, name, isSharedChanged } = differencesOf(before, after)
  const titles = (tiles: readonly Tile[]) => tiles.map((tile) => nameOf(tile)).join(', ')
  const lines = [
    ...(name === undefined ? [] : [t.name(name)]),
    ...(added.length > 0 ? [t.added(titles(added))] : []),
    ...(removed.length > 0 ? [t.removed(titles(removed))] : []),
    ...(changed.length > 0 ? [t.changed(titles(changed))] : []),
    ...(areMoved ? [t.moved] : []),
    ...(isSharedChanged ? [t.shared] : []),
  ]
  return (
    <ul className={styles.changes}>
      {(lines.length > 0 ? lines : [t.none]).map((line) => (
        <li key={line} dir="auto">
          {line}
        </li>
      ))}
    </ul>
  )
}
