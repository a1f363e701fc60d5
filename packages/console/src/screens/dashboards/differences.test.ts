import { expect, test } from 'vitest'
import type { Tile } from '../../tiles/tile.ts'
import { type Content, differencesOf, isDifferent } from './differences.ts'

const tile = (id: string, more: Partial<Tile> = {}): Tile => ({
  id,
  title: id,
  x: 0,
  y: 0,
  w: 6,
  h: 4,
  kind: 'text',
  text: 'x',
  ...more,
})
const before: Content = {
  name: 'Sales',
  description: '',
  resourceGroupIds: ['b', 'a'],
  tiles: [tile('a'), tile('b'), tile('c')],
  filters: [],
  range: null,
  comparison: 'none',
}

test('tells what was added, removed, changed and moved', () => {
  const after = {
    ...before,
    name: 'Orders',
    tiles: [tile('a', { text: 'y' }), tile('b', { x: 6 }), tile('d')],
    comparison: 'year' as const,
  }
  const { added, removed, changed, ...rest } = differencesOf(before, after)
  expect([added, removed, changed].map((tiles) => tiles.map(({ id }) => id))).toEqual([['d'], ['c'], ['a']])
  expect(rest).toEqual({ areMoved: true, name: 'Orders', isSharedChanged: true })
  expect(isDifferent(before, after)).toBe(true)
})

test('the order of keys and of teams is no difference', () => {
  const [first = tile('a'), ...others] = before.tiles
  const { text, ...rest } = first
  const after = { ...before, resourceGroupIds: ['a', 'b'], tiles: [{ text, ...rest } as Tile, ...others] }
  expect(isDifferent(before, after)).toBe(false)
})
