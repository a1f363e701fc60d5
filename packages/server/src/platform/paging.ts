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

/** A page of what a query finds, and how much it would find on all pages. */
export async function pageOf<T>(
  query: { limit(max: number): { offset(start: number): PromiseLike<T[]> } },
  count: PromiseLike<number>,
  page: Page,
): Promise<Listed<T>> {
  const { limit, offset } = rangeOf(page)
  const [rows, all] = await Promise.all([query.limit(limit).offset(offset), count])
  return { rows, count: all }
}

/** The same page in other words. */
export const mapListed = <T, U>({ rows, count }: Listed<T>, to: (row: T) => U): Listed<U> => ({
  rows: rows.map((row) => to(row)),
  count,
})
