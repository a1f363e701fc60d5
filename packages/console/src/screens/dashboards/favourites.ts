import type { OperationRequest } from '@millrace/sdk'
import { type Profile, useProfile } from '../../data/profile.ts'
import { useUpdateProfile } from '../../layout/user-menu.tsx'

interface Favourites {
  readonly places: readonly string[]
  readonly toggle: (place: string) => void
}

const placesOf = (profile: Profile | undefined): readonly string[] | undefined =>
  (profile as { readonly preferences?: { readonly favourites: readonly string[] } } | undefined)?.preferences
    ?.favourites

/** The places that the user keeps; undefined where the service keeps none. */
export function useFavourites(): Favourites | undefined {
  const update = useUpdateProfile()
  const places = placesOf(useProfile())
  if (!places) return undefined
  return {
    places,
    toggle(place) {
      const favourites = places.includes(place) ? places.filter((each) => each !== place) : [...places, place]
      const body = { preferences: { favourites } } as OperationRequest<'updateProfile'>['body']
      update.mutate(body)
    },
  }
}

export const placeOf = (id: string): string => `/dashboards/${id}`
