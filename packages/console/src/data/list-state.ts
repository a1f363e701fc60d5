/** What the address of a list says, as far as the service takes it. */

const maxPage = 10_000

/** The first page where the address names none. */
export const pageOf = (value: unknown): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= maxPage ? value : 1

/** The text that a list is searched for; empty for none. */
export const searchOf = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 200) : ''
