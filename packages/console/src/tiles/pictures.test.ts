import { expect, test } from 'vitest'
import { compact } from './layout.ts'
import { edgesOf, retentionOf, stepsOf } from './pictures.ts'
import { readyMade, tilesOf } from './ready-made.ts'
import { readyMadeWords } from './ready-made-texts.ts'
import { columns, maxTiles, type Place } from './tile.ts'

test('steps of a funnel are shares of the first', () => {
  const rows = [
    { step: 1, name: 'a', people: 200 },
    { step: 2, name: 'b', people: 50 },
  ]
  expect(stepsOf(rows).map(({ name, share }) => [name, share])).toEqual([
    ['a', 1],
    ['b', 0.25],
  ])
  expect(stepsOf([{ step: 1, name: 'a', sessions: 0 }])).toMatchObject([{ people: 0, share: 0 }])
})

test('retention is a triangle', () => {
  const row = (cohort: string, period: number, rate: number) => ({ cohort, size: 4, period, rate })
  expect(retentionOf([row('w1', 0, 1), row('w1', 1, 0.5), row('w2', 0, 1)])).toEqual({
    periods: 2,
    lines: [
      { cohort: 'w1', size: 4, rates: [1, 0.5] },
      { cohort: 'w2', size: 4, rates: [1, null] },
    ],
  })
})

test('edges of all depths are summed, the greatest first', () => {
  const edge = (depth: number, kind: string, from: string | null, to: string | null, sessions: number) => ({
    depth,
    kind,
    from,
    to,
    sessions,
  })
  const rows = [
    edge(1, 'start', null, 'a', 9),
    edge(2, 'step', 'a', 'b', 4),
    edge(2, 'end', 'a', null, 5),
    edge(3, 'step', 'a', 'b', 2),
    edge(3, 'rest', null, null, 7),
  ]
  expect(edgesOf(rows).map(({ from, to, sessions }) => [from, to, sessions])).toEqual([
    ['a', 'b', 6],
    ['a', undefined, 5],
  ])
})

test.each(readyMade)('the ready-made dashboard $id lies on the grid', (dashboard) => {
  const tiles: readonly Place[] = tilesOf(dashboard, readyMadeWords.en.tiles)
  expect(tiles.length).toBeLessThanOrEqual(maxTiles)
  for (const { x, w } of tiles) expect(x + w).toBeLessThanOrEqual(columns)
  expect(compact(tiles)).toEqual(tiles)
})
