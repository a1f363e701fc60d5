import { favouriteOf, readFavourite } from '../../data/favourites.ts'
import { useProfile, useUpdateProfile } from '../../data/profile.ts'

interface Favourites {
  /** Paths and views of what the user keeps. */
  readonly places: readonly string[]
  readonly toggle: (place: string, name: string) => void
}

/** The favourites of the user, as cards add them and take them out. */
export function useFavourites(): Favourites | undefined {
  const { mutate } = useUpdateProfile()
  const favourites = useProfile()?.preferences.favourites
  if (!favourites) return undefined
  const places = favourites.map((each) => readFavourite(each).place)
  return {
    places,
    toggle(place, name) {
      const without = favourites.filter((_, i) => places[i] !== place)
      const added = without.length < favourites.length ? undefined : favouriteOf(place, name)
      mutate({ preferences: { favourites: added === undefined ? without : [...favourites, added] } })
    },
  }
}

export const placeOf = (id: string): string => `/dashboards/${id}`
