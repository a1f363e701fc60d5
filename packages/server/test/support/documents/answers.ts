const kind = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether the text is this, where `…` stands for anything. Lines of CSV end in CR LF, those of a page do not. */
export function fitsText(expected: string, actual: string): boolean {
  const parts = expected.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*')}$`).test(actual.replaceAll('\r\n', '\n'))
}

/**
 * Where an answer differs from the one that a page shows, a line each: in shape, or with `same` in value.
 * `"…"` as a key or value stands for anything, and null for a value that may be absent.
 */
export function differences(expected: unknown, actual: unknown, same: boolean, path = 'answer'): string[] {
  if (expected === '…' || (expected === null && !same)) return []
  if (kind(expected) !== kind(actual))
    return [`${path} is ${JSON.stringify(actual)?.slice(0, 200)}, not a ${kind(expected)}`]
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (!same) {
      if (expected.length === 0) return []
      return actual.length === 0
        ? [`${path} is empty`]
        : differences(expected[0], actual[0], same, `${path}[0]`)
    }
    const open = expected.at(-1) === '…'
    const shown = open ? expected.slice(0, -1) : expected
    if (open ? actual.length < shown.length : actual.length !== shown.length)
      return [`${path} has ${actual.length} elements, not ${shown.length}`]
    return shown.flatMap((each, i) => differences(each, actual[i], same, `${path}[${i}]`))
  }
  if (typeof expected === 'object' && expected !== null) {
    const [shown, given] = [expected, actual] as Record<string, unknown>[]
    const missing = Object.keys(shown ?? {}).filter((key) => key !== '…' && !(key in (given ?? {})))
    const more = Object.keys(given ?? {}).filter((key) => !(key in (shown ?? {})))
    return [
      ...missing.map((key) => `${path}.${key} is not there`),
      ...(same && !('…' in (shown ?? {})) ? more.map((key) => `${path}.${key} is not in the page`) : []),
      ...Object.entries(shown ?? {}).flatMap(([key, value]) =>
        key === '…' || missing.includes(key) ? [] : differences(value, given?.[key], same, `${path}.${key}`),
      ),
    ]
  }
  if (typeof expected === 'string' && typeof actual === 'string') {
    // Rows of a query are JSON within a text.
    const [shown, given] = [parsed(expected), parsed(actual)]
    if (typeof shown === 'object' && shown !== null) return differences(shown, given, same, path)
    return !same || fitsText(expected, actual) ? [] : [`${path} is ${JSON.stringify(actual)}`]
  }
  return !same || expected === actual ? [] : [`${path} is ${JSON.stringify(actual)}`]
}

/** The JSON at the end of what was printed, from the first line on that begins it. */
export function lastJson(output: string): unknown {
  const lines = output.trim().split('\n')
  for (let from = 0; from < lines.length; from++) {
    const value = parsed(lines.slice(from).join('\n'))
    if (value !== undefined) return value
  }
  return undefined
}
