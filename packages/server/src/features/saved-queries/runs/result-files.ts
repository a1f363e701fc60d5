/** Characters that some file system refuses or hides, as categories of Unicode and as signs. */
const unsafe = /[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*]/gu
const maxNameLength = 100

/** Names of the CSV files of a saved query: its own name, numbered where there are several. */
export function fileNamesOf(name: string, count: number): string[] {
  const safe = [...name.replaceAll(unsafe, '-')]
    .slice(0, maxNameLength)
    .join('')
    .replace(/^[.\s]+|[.\s]+$/g, '')
  const base = safe === '' ? 'results' : safe
  return Array.from({ length: count }, (_, i) => (count === 1 ? `${base}.csv` : `${base} ${i + 1}.csv`))
}

/** Counts the rows of CSV that arrives in pieces, without its header: line ends inside quotes are none. */
export function createRowCounter() {
  let isQuoted = false
  let lines = 0
  return {
    add(piece: string): void {
      for (let i = 0; i < piece.length; i++) {
        const code = piece.charCodeAt(i)
        if (code === 34) isQuoted = !isQuoted
        else if (code === 10 && !isQuoted) lines++
      }
    },
    rows: () => Math.max(0, lines - 1),
  }
}
