import type { Marker } from './lexicon.ts'
import { type Senses, senseOf, type Term } from './vocabulary.ts'

/** Looks at the terms of a question by their places; behind the last there is nothing. */
export interface Terms {
  readonly length: number
  at(place: number): Term | undefined
  /** What a term means of a kind. */
  meaning<K extends keyof Senses>(place: number, kind: K): Senses[K] | undefined
  is(place: number, ...markers: Marker[]): boolean
  /** The first place from here on whose term says more than an article or a preposition. */
  skip(place: number): number
}

/** Words that stand between those that count. */
const between = new Set(
  'the of a le la les l de du d des un une in en au that from to with avec at during pendant for on over sur dans aux ci our my your notre nos vos me is are est sont all tous toute tou'.split(
    ' ',
  ),
)

export function termsAt(terms: readonly Term[]): Terms {
  const at = (place: number) => terms[place]
  const isBetween = (term: Term | undefined) =>
    term !== undefined && term.words.length === 1 && between.has(term.words[0]?.form ?? '')
  return {
    length: terms.length,
    at,
    meaning: (place, kind) => senseOf(at(place)?.meanings, kind),
    is: (place, ...markers) =>
      at(place)?.meanings.some((each) => each.kind === 'marker' && markers.includes(each.sense)) ?? false,
    skip(place) {
      let next = place
      while (isBetween(at(next))) next++
      return next
    },
  }
}
