import { attempt } from '../attempt.ts'

interface LayeredWindow {
  dataLayer?: unknown
}

/** `dataLayer.push({ event })`, or `gtag('event', name)`, which pushes its arguments. */
function eventOf(entry: unknown): unknown {
  const fields = Object(entry) as { readonly event?: unknown; readonly 0?: unknown; readonly 1?: unknown }
  return fields.event ?? (fields[0] === 'event' ? fields[1] : undefined)
}

/** Entries of the page's data layer; none where it has none. */
export function entriesOf(page: LayeredWindow): readonly unknown[] {
  return Array.isArray(page.dataLayer) ? page.dataLayer : []
}

/** The value at a path (`user.segment`) in the last entry that has one, as text; undefined for what is none. */
export function valueAt(entries: readonly unknown[], path: string): string | undefined {
  for (let place = entries.length - 1; place >= 0; place--) {
    const value = path
      .split('.')
      .reduce<unknown>(
        (part, key) =>
          part === null || part === undefined ? undefined : (part as Record<string, unknown>)[key],
        entries[place],
      )
    if (value === null || value === undefined) continue
    return typeof value === 'object' || typeof value === 'function' ? undefined : String(value)
  }
  return undefined
}

/**
 * Events of the data layer of a page, those from before included. A page may put another list in its place at any
 * time, and other scripts wrap `push` too: so each list is wrapped once, and nothing is ever put back.
 */
export function watchDataLayer(page: LayeredWindow, onEvent: () => void) {
  const names = new Set<string>()
  const watched = new WeakSet<object>()

  function note(entries: ArrayLike<unknown>): void {
    for (const entry of Array.from(entries)) {
      const name = attempt(() => eventOf(entry))
      if (typeof name === 'string') names.add(name)
    }
  }

  return {
    /** Begins with the list that the page has now; makes one where it has none. */
    watch(): void {
      // A page may have put something there that cannot be replaced.
      attempt(() => {
        page.dataLayer ??= []
      })
      const layer = page.dataLayer
      if (!Array.isArray(layer) || watched.has(layer)) return
      watched.add(layer)
      note(layer)
      const push = layer.push
      const heard = (...entries: unknown[]) => {
        const length = push.apply(layer, entries)
        note(entries)
        onEvent()
        return length
      }
      attempt(() => {
        layer.push = heard
      })
    },
    sawOneOf: (wanted: readonly string[]): boolean => wanted.some((name) => names.has(name)),
  }
}
