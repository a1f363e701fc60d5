import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useProfile } from '../data/profile.ts'
import { useTexts } from '../texts/texts.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { destinations, places } from './destinations.ts'
import styles from './palette.module.css'

/** Goes to any screen by typing. */
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
  const navigate = useNavigate()
  const permissions = useProfile()?.permissions ?? []
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const found = [...destinations, { to: '/account', text: 'account', icon: 'account', group: 'top' } as const]
    .filter((each) => !('needs' in each) || each.needs === undefined || permissions.includes(each.needs))
    .filter((each) => t[each.text].toLowerCase().includes(text.trim().toLowerCase()))
  const go = (index: number) => {
    const place = found[index]
    if (!place) return
    onClose()
    void navigate({ to: place.to ?? '/' })
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
        {found.map((place, index) => (
          <li key={place.to}>
            <button
              type="button"
              className={styles.item}
              data-chosen={index === chosen}
              onClick={() => go(index)}
            >
              <Icon name={place.icon} />
              {t[place.text]}
            </button>
          </li>
        ))}
        {found.length === 0 && <li data-quiet>{t.noMatch}</li>}
      </ul>
    </div>
  )
}
