import type { ReactNode } from 'react'
import { common } from '../texts/common.ts'
import { useTexts } from '../texts/texts.ts'
import { Button, IconButton } from './button.tsx'
import { Icon } from './icon.tsx'
import styles from './table.module.css'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  /** Numbers stand at the end of their column. */
  readonly isNumber?: boolean
  readonly isSortable?: boolean
}

export interface Sort {
  readonly by: string
  readonly descending: boolean
}

/** A plain table that scrolls sideways where it is too wide, with sorting by its heads. */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  sort,
  onSort,
}: {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row, index: number) => string | number
  readonly sort?: Sort | undefined
  readonly onSort?: (sort: Sort) => void
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={styles.scroll} tabIndex={0} aria-label={label}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map(({ id, title, isNumber, isSortable }) => {
              const isSorted = sort?.by === id
              return (
                <th
                  key={id}
                  scope="col"
                  data-number={isNumber}
                  aria-sort={isSorted ? (sort.descending ? 'descending' : 'ascending') : undefined}
                >
                  {isSortable && onSort ? (
                    <button
                      type="button"
                      className={styles.sort}
                      onClick={() =>
                        onSort({ by: id, descending: isSorted ? !sort.descending : isNumber === true })
                      }
                    >
                      {title}
                      {isSorted && <Icon name={sort.descending ? 'down' : 'up'} size={12} />}
                    </button>
                  ) : (
                    title
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={rowKey(row, index)}>
              {columns.map(({ id, cell, isNumber }) => (
                <td key={id} data-number={isNumber} dir={isNumber ? undefined : 'auto'}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The pages of a list, from 1. */
export function Pages({
  page,
  perPage,
  count,
  onPage,
}: {
  readonly page: number
  readonly perPage: number
  readonly count: number
  readonly onPage: (page: number) => void
}) {
  const t = useTexts(common)
  const pages = Math.max(1, Math.ceil(count / perPage))
  if (pages === 1) return null
  return (
    <nav className={styles.pages} aria-label={t.pageOf(page, pages)}>
      <IconButton
        icon="left"
        label={t.previousPage}
        isDisabled={page <= 1}
        onPress={() => onPage(page - 1)}
      />
      <span data-quiet>{t.pageOf(page, pages)}</span>
      <IconButton
        icon="right"
        label={t.nextPage}
        isDisabled={page >= pages}
        onPress={() => onPage(page + 1)}
      />
      {page > pages && <Button onPress={() => onPage(1)}>1</Button>}
    </nav>
  )
}
