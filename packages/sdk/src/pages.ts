/** A page of a list, as its envelope has it. */
export interface Page<Item> {
  readonly data: readonly Item[]
  /** Absent only where a list was not asked for a page. */
  readonly paginationCount?: number
  readonly paginationLimit?: number
}

/** Items of a page where the caller does not say: the maximum of every list. */
const itemsOfPage = 100

/**
 * The items of a list, page by page: the next page is asked for once the items before it are used. What is added or
 * deleted meanwhile moves the pages, so that an item may come twice or not at all.
 */
export async function* allItems<Item>(
  query: Readonly<Record<string, unknown>>,
  readPage: (query: Readonly<Record<string, unknown>>) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const { page: first = 1, perPage = itemsOfPage } = query
  for (let page = Number(first); ; page++) {
    const {
      data,
      paginationCount = 0,
      paginationLimit = Number(perPage),
    } = await readPage({
      ...query,
      page,
      perPage,
    })
    yield* data
    if (data.length === 0 || page * paginationLimit >= paginationCount) return
  }
}
