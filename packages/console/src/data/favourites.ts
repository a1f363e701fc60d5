/** A place of the console that a user wants to find again, as a text of `preferences.favourites`: `/path?view#name`. */
export interface Favourite {
  readonly text: string
  /** Path and view. */
  readonly place: string
  readonly name: string
}

/** As many and as long as the interface takes. */
export const maxFavourites = 50
const maxLength = 500

/** The same view has the same place, in whatever order it came about. */
export function placeOf(href: string): string {
  const { pathname, searchParams } = new URL(href, 'https://console.invalid')
  searchParams.sort()
  return searchParams.size > 0 ? `${pathname}?${searchParams}` : pathname
}

/** A control character would be refused, and none has a name on a screen. */
const nameIn = (text: string) => text.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ').trim()

/** @returns undefined where the view is too long to be kept */
export function favouriteOf(href: string, name: string): string | undefined {
  const place = placeOf(href)
  if (place.length >= maxLength) return undefined
  // A letter of two halves may have been cut in the middle.
  return nameIn(`${place}#${nameIn(name)}`.slice(0, maxLength))
}

export function readFavourite(text: string): Favourite {
  const at = text.indexOf('#')
  const place = placeOf(at < 0 ? text : text.slice(0, at))
  return { text, place, name: (at < 0 ? '' : nameIn(text.slice(at + 1))) || place }
}
