/**
 * Edits (insert, delete, replace, swap of neighbours) that turn one text into the other, or `bound` when there are
 * so many or more: only what lies within the bound of the diagonal is looked at.
 */
function editDistance(a: string, b: string, bound: number): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  let previousLeast = 0
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - bound)
    const to = Math.min(b.length, i + bound)
    const current: number[] = []
    let least = from === 1 ? i : bound
    current[from - 1] = least
    for (let j = from; j <= to; j++) {
      const replaced = (previous[j - 1] ?? bound) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let best = Math.min((previous[j] ?? bound) + 1, (current[j - 1] ?? bound) + 1, replaced)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (beforePrevious[j - 2] ?? bound) + 1)
      }
      current[j] = best
      if (best < least) least = best
    }
    // A swap reaches back over one row: only two of them in a row say that no way is left.
    if (least >= bound && previousLeast >= bound) return bound
    previousLeast = least
    beforePrevious = previous
    previous = current
  }
  return Math.min(previous[b.length] ?? bound, bound)
}

/** Names that differ in more are not near, however long they are. */
const maxEdits = 10

/** The known name that a user who typed `name` most likely meant, or nothing when none is close. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const typed = name.slice(0, 100).toLowerCase()
  let best: string | undefined
  // Of a name in which every letter is another one nothing is left.
  let bestDistance = Math.min(maxEdits + 1, Math.max(2, Math.floor(typed.length / 3)) + 1, typed.length)
  for (const candidate of known) {
    if (Math.abs(candidate.length - typed.length) >= bestDistance) continue
    const distance = editDistance(typed, candidate.toLowerCase(), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

const maxListed = 10

/** `; did you mean "price"?`, or what there is to choose from. */
export function hintOf(name: string, known: Iterable<string>): string {
  const names = [...known]
  const nearest = nearestName(name, names)
  if (nearest !== undefined) return `; did you mean "${nearest}"?`
  if (names.length === 0) return ''
  const listed = names.slice(0, maxListed).map((each) => `"${each}"`)
  return `; there ${names.length === 1 ? 'is' : 'are'} ${listed.join(', ')}${names.length > maxListed ? ' and more' : ''}`
}
