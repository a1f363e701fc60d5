import { describe, expect, test } from 'vitest'
import { compact, moveBy, placeFor, sizeBy } from './layout.ts'
import type { Place } from './tile.ts'

const at = (id: string, x: number, y: number, w: number, h: number): Place => ({ id, x, y, w, h })
const shown = (places: readonly Place[]) => places.map(({ id, x, y, w, h }) => `${id} ${x},${y} ${w}x${h}`)

const two = [at('a', 0, 0, 6, 2), at('b', 6, 0, 6, 2)]
const stack = [at('a', 0, 0, 6, 2), at('b', 0, 2, 6, 3), at('c', 0, 5, 6, 1)]

describe('a layout', () => {
  test('has no empty rows above a tile', () => {
    expect(shown(compact([at('a', 0, 4, 6, 2), at('b', 0, 9, 3, 2), at('c', 6, 3, 6, 1)]))).toEqual([
      'a 0,0 6x2',
      'b 0,2 3x2',
      'c 6,0 6x1',
    ])
  })

  test('a tile that moves down changes places with the one below', () => {
    expect(shown(moveBy(stack, 'a', 0, 1))).toEqual(['a 0,3 6x2', 'b 0,0 6x3', 'c 0,5 6x1'])
    expect(shown(moveBy(stack, 'c', 0, -1))).toEqual(['a 0,0 6x2', 'b 0,3 6x3', 'c 0,2 6x1'])
  })

  test('a tile that moves sideways pushes what it meets down', () => {
    expect(shown(moveBy(two, 'a', 1, 0))).toEqual(['a 1,0 6x2', 'b 6,2 6x2'])
  })

  test.each([
    [-1, 0],
    [0, -1],
    [0, 1],
  ])('nothing moves beyond the edge (%i, %i)', (dx, dy) => {
    const alone = [at('a', 0, 0, 12, 2)]
    expect(moveBy(alone, 'a', dx, dy)).toEqual(alone)
  })

  test('sizes stay within the grid, and others make way', () => {
    expect(shown(sizeBy(two, 'a', 1, 0))).toEqual(['a 0,0 7x2', 'b 6,2 6x2'])
    expect(shown(sizeBy(two, 'b', 1, 0))).toEqual(['a 0,0 6x2', 'b 6,0 6x2'])
    expect(shown(sizeBy(stack, 'a', 0, 1))).toEqual(['a 0,0 6x3', 'b 0,3 6x3', 'c 0,6 6x1'])
    expect(shown(sizeBy([at('a', 0, 0, 1, 1)], 'a', -1, -1))).toEqual(['a 0,0 1x1'])
  })

  test('a new tile goes beside the last ones where there is room, else below', () => {
    expect(placeFor([], { w: 6, h: 4 })).toEqual({ x: 0, y: 0, w: 6, h: 4 })
    expect(placeFor([at('a', 0, 0, 6, 4)], { w: 6, h: 4 })).toEqual({ x: 6, y: 0, w: 6, h: 4 })
    expect(placeFor(two, { w: 6, h: 4 })).toEqual({ x: 0, y: 2, w: 6, h: 4 })
  })
})
