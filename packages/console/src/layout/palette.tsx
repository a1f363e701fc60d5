import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { readFavourite } from '../data/favourites.ts'
import { useProfile } from '../data/profile.ts'
import { useTexts } from '../texts/texts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { destinations, places } from './destinations.ts'
import { namedQuery } from './named-things.ts'
import styles from './palette.module.css'

/** Goes to any screen by typing, and to what has a name. */
export function Palette({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const t = useTexts(places)
  return (
    <Dialog title={t.palette} isOpen={isOpen} onClose={onClose} width={560}>
      <Finder onClose={onClose} />
    </Dialog>
  )
}

function Finder({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts(places)
  const { history } = useRouter()
  const profile = useProfile()
  const permissions = profile?.permissions ?? []
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const asked = text.trim()
  const holds = (name: string) => name.toLowerCase().includes(asked.toLowerCase())
  const screens = [...destinations, { to: '/account', text: 'account', icon: 'account' } as const]
    .filter((each) => !('needs' in each) || each.needs === undefined || permissions.includes(each.needs))
    .map(({ to, text, icon }) => ({ place: String(to), name: t[text], icon, kind: '' }))
  const favourites = (profile?.preferences.favourites ?? [])
    .map(readFavourite)
    .map(({ place, name }) => ({ place, name, icon: 'star' as const, kind: t.favourites }))
  const query = useDeferredValue(asked)
  const { data: named = [] } = useQuery({
    ...namedQuery(query),
    enabled: query !== '' && permissions.includes('statistics:access'),
  })
  const found = [
    ...[...screens, ...favourites].filter(({ name }) => holds(name)),
    ...named.filter(({ name }) => holds(name)).map((each) => ({ ...each, kind: t[each.text] })),
  ]
  const go = (index: number) => {
    const place = found[index]?.place
    if (place === undefined) return
    onClose()
    history.push(`/console${place}`)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the field above the list
    <div
      className={styles.palette}
      onKeyDown={(event) => {
        const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
        if (step !== 0 && found.length > 0) {
          event.preventDefault()
          setChosen((chosen + step + found.length) % found.length)
        }
        if (event.key === 'Enter') go(chosen)
      }}
    >
      <TextField
        label={t.palette}
        hidesLabel
        autoFocus
        placeholder={t.paletteHint}
        value={text}
        onChange={(value) => {
          setText(value)
          setChosen(0)
        }}
      />
      <ul className={styles.list}>
        {found.map(({ place, name, icon, kind }, index) => (
          <li key={`${kind}${place}`}>
            <button
              type="button"
              className={styles.item}
              data-chosen={index === chosen}
              onClick={() => go(index)}
            >
              <Icon name={icon} />
              <span className={styles.name} dir="auto">
                {name}
              </span>
              {kind && <span className={styles.kind}>{kind}</span>}
            </button>
          </li>
        ))}
        {found.length === 0 && <li data-quiet>{t.noMatch}</li>}
      </ul>
    </div>
  )
}
