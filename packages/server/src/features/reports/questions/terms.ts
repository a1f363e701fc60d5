import type { Marker } from './lexicon.ts'
import type { Meaning, MeaningOf, Term } from './vocabulary.ts'

/** Looks at the terms of a question by their places; behind the last there is nothing. */
export interface Terms {
  readonly length: number
  at(place: number): Term | undefined
  meaning<K extends Meaning['kind']>(place: number, kind: K): MeaningOf<K> | undefined
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
    meaning: <K extends Meaning['kind']>(place: number, kind: K) =>
      at(place)?.meanings.find((each): each is MeaningOf<K> => each.kind === kind),
    is: (place, ...markers) =>
      at(place)?.meanings.some((each) => each.kind === 'marker' && markers.includes(each.marker)) ?? false,
    skip(place) {
      let next = place
      while (isBetween(at(next))) next++
      return next
    },
  }
}
