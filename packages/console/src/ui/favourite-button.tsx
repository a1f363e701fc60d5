import { useRouterState } from '@tanstack/react-router'
import { useState } from 'react'
import { favouriteOf, maxFavourites, placeOf, readFavourite } from '../data/favourites.ts'
import { useProfile, useUpdateProfile } from '../data/profile.ts'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { Button, IconButton } from './button.tsx'
import { TextField } from './field.tsx'
import styles from './page.module.css'
import { PopoverButton } from './popover.tsx'
import { toast } from './toast.tsx'

/** A star for the view that the address says: gives it a name in the navigation, or takes it out. */
export function FavouriteButton({ title }: { readonly title: string }) {
  const t = useTexts(common)
  const href = useRouterState({ select: (state) => state.location.href })
  const favourites = useProfile()?.preferences.favourites
  const { mutate } = useUpdateProfile()
  if (!favourites) return null
  const set = (next: readonly string[]) => mutate({ preferences: { favourites: [...next] } })
  const present = favourites.find((each) => readFavourite(each).place === placeOf(href))
  if (present !== undefined)
    return (
      <IconButton
        icon="star"
        isFilled
        label={t.noFavourite}
        onPress={() => {
          set(favourites.filter((each) => each !== present))
          toast.undo(t.favouriteRemoved, () => set(favourites))
        }}
      />
    )
  return (
    <PopoverButton label={t.favourite} trigger={<IconButton icon="star" label={t.favourite} />}>
      {(close) => (
        <NameForm
          title={title}
          onName={(name) => {
            const favourite = favouriteOf(href, name)
            if (favourite === undefined) toast.fail(t.favouriteTooLong)
            else if (favourites.length >= maxFavourites) toast.fail(t.favouritesFull(maxFavourites))
            else set([...favourites, favourite])
            close()
          }}
        />
      )}
    </PopoverButton>
  )
}

function NameForm({ title, onName }: { readonly title: string; readonly onName: (name: string) => void }) {
  const t = useTexts(common)
  const [name, setName] = useState(title)
  return (
    <form
      className={styles.naming}
      onSubmit={(event) => {
        event.preventDefault()
        onName(name.trim() || title)
      }}
    >
      <TextField
        label={t.name}
        hint={t.favouriteHint}
        value={name}
        onChange={setName}
        maxLength={100}
        autoFocus
      />
      <Button kind="main" type="submit">
        {t.favourite}
      </Button>
    </form>
  )
}
