import { describe, expect, test } from 'vitest'
import type { Meta } from '../../data/format.ts'
import type { Row } from '../../data/statistics.ts'
import { pathGraph } from './path-graph.ts'
import { pathsBody, readPaths } from './path-state.ts'

const meta = { measures: {}, dimensions: {} } as unknown as Meta
const days = { from: '2026-01-01', to: '2026-01-31' }

describe('paths in an address', () => {
  test('begin with the session, and with one step at most', () => {
    expect(pathsBody(readPaths({}, meta, []), days)).toEqual({
      by: 'path',
      dateRange: ['2026-01-01', '2026-01-31'],
      depth: 4,
      repeats: 'collapse',
      limit: 200,
    })
    expect(readPaths({ from: '/a', to: '/b' }, meta, [])).toMatchObject({ anchor: 'from', step: '/a' })
    expect(pathsBody(readPaths({ to: '/b', by: 'event' }, meta, []), days)).toMatchObject({
      to: '/b',
      by: 'event',
    })
  })

  test.each([{ depth: 11 }, { depth: 'x' }, { from: 7 }, { from: null, to: {} }])('%j is ignored', (view) => {
    expect(readPaths(view, meta, [])).toMatchObject({ depth: 4, anchor: 'start' })
  })
})

const edge = (
  depth: number,
  kind: string,
  from: string | null,
  to: string | null,
  sessions: number,
): Row => ({
  depth,
  kind,
  from,
  to,
  sessions,
  people: sessions,
})
const flow = (rows: Row[], isBackwards = false, maxNodes = 9) => {
  const graph = pathGraph(rows, isBackwards, maxNodes)
  return {
    ...graph,
    links: graph.links.map(({ source, target, sessions }) => `${source} > ${target}: ${sessions}`).sort(),
  }
}

describe('the picture of paths', () => {
  test('goes from column to column, and loses nobody whose edge has no row', () => {
    const rows = [
      edge(1, 'start', null, '/', 10),
      edge(2, 'step', '/', '/a', 4),
      edge(2, 'end', '/', null, 3),
      edge(2, 'rest', null, null, 3),
    ]
    const { links, columns, sessions } = flow(rows)
    expect(links).toEqual([
      '0/start/ > 1/step//: 10',
      '1/step// > 2/end/: 3',
      '1/step// > 2/rest/: 3',
      '1/step// > 2/step//a: 4',
    ])
    expect({ columns, sessions }).toEqual({ columns: 3, sessions: 10 })
  })

  test('folds the smallest steps of a column', () => {
    const rows = [
      edge(1, 'start', null, '/a', 5),
      edge(1, 'start', null, '/b', 2),
      edge(1, 'start', null, '/c', 1),
      edge(2, 'step', '/b', '/a', 2),
      edge(2, 'end', '/c', null, 1),
      edge(2, 'end', '/a', null, 5),
    ]
    expect(flow(rows, false, 1).links).toEqual([
      '0/start/ > 1/rest/: 3',
      '0/start/ > 1/step//a: 5',
      '1/rest/ > 2/end/: 1',
      '1/rest/ > 2/step//a: 2',
      '1/step//a > 2/end/: 5',
    ])
  })

  test('leads to a step from left to right', () => {
    const rows = [
      edge(1, 'step', '/cart', '/pay', 6),
      edge(1, 'start', null, '/pay', 1),
      edge(2, 'step', '/', '/cart', 4),
      edge(2, 'rest', null, null, 2),
    ]
    expect(flow(rows, true).links).toEqual([
      '0/rest/ > 1/step//cart: 2',
      '0/step// > 1/step//cart: 4',
      '1/start/ > 2/step//pay: 1',
      '1/step//cart > 2/step//pay: 6',
    ])
  })

  test('of nothing is empty', () => {
    expect(pathGraph([], false, 9)).toEqual({ nodes: [], links: [], columns: 1, sessions: 0 })
  })
})
