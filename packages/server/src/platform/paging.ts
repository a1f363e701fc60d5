/** Which part of a list: `page` from 1. */
export interface Page {
  readonly page: number
  readonly perPage: number
}

export interface Listed<T> {
  readonly rows: T[]
  /** All matches, on every page. */
  readonly count: number
}

export interface Range {
  readonly limit: number
  readonly offset: number
}

export function rangeOf({ page, perPage }: Page): Range {
  return { limit: perPage, offset: (page - 1) * perPage }
}
