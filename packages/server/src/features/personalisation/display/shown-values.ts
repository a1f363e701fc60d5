/** Of a value as a preview shows it, as JSON. */
const maxLength = 20_000
/** Of all values of a preview; then they are cut shorter. */
const maxTogether = 100_000
const minLength = 200

/**
 * Values of one preview as JSON has them. A long one is cut as text, and is read no further than it is shown, so that a
 * preview costs no more than its steps are many, whatever datasources hold.
 */
export function createShownValues(): (value: unknown) => unknown {
  let together = maxTogether

  return (value) => {
    const length = Math.max(minLength, Math.min(maxLength, together))
    let left = length
    /** Each part takes as many characters at least: what follows the last that is shown is left out. */
    function partShown(_name: string, part: unknown): unknown {
      if (left < 0) return undefined
      left -= typeof part === 'string' ? part.length + 2 : 1
      if (Array.isArray(part)) return part.slice(0, left + 1)
      return typeof part === 'string' ? part.slice(0, length) : part
    }
    const text = JSON.stringify(value ?? null, partShown)
    together -= Math.min(text.length, length)
    return left >= 0 && text.length <= length ? JSON.parse(text) : `${text.slice(0, length)}…`
  }
}
