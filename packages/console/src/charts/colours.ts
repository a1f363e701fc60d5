import { useEffect, useState } from 'react'

const names = [
  'series-1',
  'series-2',
  'series-3',
  'series-4',
  'series-5',
  'series-6',
  'series-7',
  'series-8',
  'line',
  'text-quiet',
  'surface',
] as const

export type Colours = Readonly<Record<(typeof names)[number], string>>

/** How many series are told apart by their colours. */
export const maxSeries = 8

export const seriesColour = (index: number): `series-${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}` =>
  `series-${((index % maxSeries) + 1) as 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`

export const seriesVariable = (index: number): string => `var(--${seriesColour(index)})`

/** What the variables are at present: a canvas does not know them. */
function read(): Colours {
  const probes = names.map((name) => {
    // One for each: a colour that changes is computed as the one it comes from while a transition has not begun.
    const probe = document.createElement('span')
    probe.style.color = `var(--${name})`
    return probe
  })
  document.body.append(...probes)
  const colours = probes.map((probe, i) => [names[i], getComputedStyle(probe).color])
  for (const probe of probes) probe.remove()
  return Object.fromEntries(colours) as Colours
}

/** Colours for canvases, read again when the theme changes. */
export function useColours(): Colours {
  const [colours, setColours] = useState(read)
  useEffect(() => {
    const update = () => setColours(read())
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const observer = new MutationObserver(update)
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    scheme.addEventListener('change', update)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', update)
    }
  }, [])
  return colours
}
