import { describe, expect, test } from 'vitest'
import { comparedNames, eventNameSql, storedNamesOf } from './event-name.ts'
import { createParameters } from './parameters.ts'

const aliases = new Map([
  ['sign_up', 'registration'],
  ['signup', 'registration'],
  ["o'ld", 'fresh'],
])

describe('the name under which an event answers', () => {
  test('is the column itself where nothing was renamed', () => {
    const parameters = createParameters()
    expect(eventNameSql('name', new Map(), parameters)).toBe('name')
    expect(parameters.statement('').params).toEqual({})
  })

  test('is looked up in bound lists, and no name is part of the statement', () => {
    const parameters = createParameters()
    const sql = 'transform(name, {p1:Array(String)}, {p2:Array(String)})'
    expect(eventNameSql('name', aliases, parameters)).toBe(sql)
    expect(parameters.statement('').params).toEqual({
      p1: ['sign_up', 'signup', "o'ld"],
      p2: ['registration', 'registration', 'fresh'],
    })
  })
})

describe('stored names', () => {
  test.each([
    [['page_view'], ['page_view']],
    [['registration'], ['registration', 'sign_up', 'signup']],
    // A former name means its alias.
    [['sign_up'], ['registration', 'sign_up', 'signup']],
    [
      ['sign_up', 'registration', 'fresh', 'page_view'],
      ['fresh', "o'ld", 'page_view', 'registration', 'sign_up', 'signup'],
    ],
    [[], []],
  ])('of %j are %j', (names, stored) => {
    expect(storedNamesOf(names, aliases).sort()).toEqual(stored)
    expect(storedNamesOf(names, new Map())).toEqual(names)
  })
})

describe('a filter', () => {
  test.each(['equals', 'notEquals'] as const)('by %s compares stored names', (operator) => {
    const compared = comparedNames('name', { operator, values: ['fresh'] }, aliases, createParameters())
    expect(compared).toEqual({ sql: 'name', values: ['fresh', "o'ld"] })
  })

  test.each(['contains', 'notStartsWith', 'gt', 'set'] as const)(
    'by %s compares what is shown',
    (operator) => {
      const compared = comparedNames('name', { operator, values: ['sign'] }, aliases, createParameters())
      expect(compared).toMatchObject({ sql: expect.stringMatching(/^transform\(/), values: ['sign'] })
    },
  )
})
