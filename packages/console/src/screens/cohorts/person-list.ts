export const maxPersons = 100_000
/** What the interface takes in one field. */
const maxLength = 512
/** A body with more goes to the members of the cohort, which take 8 MiB. */
const maxInBody = 900_000

export interface PersonList {
  readonly persons: readonly string[]
  /** Lines that are longer than an identifier may be. */
  readonly tooLong: number
}

/** Identifiers, one in a line, as a text or a file of a spreadsheet with one column has them; each counts once. */
export function personsOf(text: string): PersonList {
  const found = new Set<string>()
  let tooLong = 0
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const person = line.trim().replace(/^"(.*)"$/, (_, inner: string) => inner.replaceAll('""', '"'))
    if (person === '') continue
    if (person.length > maxLength) tooLong += 1
    else found.add(person)
  }
  return { persons: [...found], tooLong }
}

export const fitsOneBody = (persons: readonly string[]): boolean =>
  new TextEncoder().encode(JSON.stringify(persons)).length <= maxInBody
