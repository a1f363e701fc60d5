import { createCsvReader } from './csv-reader.ts'
import { csvDelimiters, sourceLimits } from './source-options.ts'

const linesRead = 100

/**
 * The delimiter of a CSV file by its first lines: the one that cuts most of them into as many values as the header,
 * and of those the one that gives most columns.
 */
export function detectDelimiter(head: string, isWhole: boolean): string {
  const written = /^\ufeff?sep=(.)\r?\n/i.exec(head)?.[1]
  if (written !== undefined) return written
  let best = { delimiter: ',', share: 0, columns: 1 }
  // A tab or a bar is rarely part of a text, a comma often.
  for (const delimiter of csvDelimiters.toReversed()) {
    const { share, columns } = readWith(delimiter, head, isWhole)
    if (columns < 2) continue
    if (share > best.share + 0.1 || (share > best.share - 0.1 && columns > best.columns)) {
      best = { delimiter, share, columns }
    }
  }
  return best.delimiter
}

function readWith(delimiter: string, head: string, isWhole: boolean): { share: number; columns: number } {
  let columns = 0
  let good = 0
  let all = 0
  const reader = createCsvReader({
    delimiter,
    limits: sourceLimits,
    onHeader: (names) => {
      columns = names.length
    },
    sink: {
      row(_entry, row) {
        if (all++ < linesRead && Object.keys(row).length === columns) good++
      },
      fault() {
        all++
      },
    },
  })
  try {
    reader.write(head)
    reader.end(!isWhole)
  } catch {
    return { share: 0, columns: 0 }
  }
  return { share: all === 0 ? 1 : good / Math.min(all, linesRead), columns }
}
