import { describe, expect, test } from 'vitest'
import { isWithin, passes } from './filters.ts'

const condition = (operator: string, field: string, ...values: string[]) => ({ operator, field, values })
const page = new URL('https://shop.example/boots?a=x&empty=&list=1&list=2')

describe('conditions', () => {
  test.each([
    ['eq', 'a', ['x'], true],
    ['eq', 'a', ['y', 'x'], true],
    ['eq', 'a', ['X'], false],
    ['ne', 'a', ['y'], true],
    ['ne', 'a', ['y', 'x'], false],
    ['contains', 'url', ['/nowhere', '/boots'], true],
    ['contains', 'url', ['/nowhere'], false],
    ['notcontains', 'url', ['/nowhere'], true],
    ['notcontains', 'url', ['/nowhere', '/boots'], false],
    ['empty', 'empty', [], true],
    ['empty', 'absent', [], true],
    ['nempty', 'absent', [], false],
    ['nempty', 'a', [], true],
    ['eq', 'list', ['1'], true],
    ['eq', 'trk-u', ['ada'], true],
    ['eq', 'isLogged', ['true'], true],
    ['eq', 'constructor', [''], true],
    ['regex', 'a', ['x'], false],
  ])('%s %s %j: %s', (operator, field, values, holds) => {
    const filters = { type: 'and', conditions: [condition(operator, field, ...values)] }
    expect(passes(filters as never, page, 'ada')).toBe(holds)
  })

  test('all of them hold, or one does', () => {
    const conditions = [condition('eq', 'a', 'x'), condition('nempty', 'absent')]
    expect(passes({ type: 'and', conditions } as never, page, '')).toBe(false)
    expect(passes({ type: 'or', conditions } as never, page, '')).toBe(true)
    expect(passes(undefined, page, '')).toBe(true)
  })

  test('a visitor without an identifier is not signed in', () => {
    const filters = { type: 'and', conditions: [condition('eq', 'isLogged', 'false')] }
    expect(passes(filters as never, page, '')).toBe(true)
  })
})

test('a site is its host and those below it', () => {
  expect(isWithin('shop.example', undefined)).toBe(true)
  expect(isWithin('shop.example', 'shop.example')).toBe(true)
  expect(isWithin('www.shop.example', 'shop.example')).toBe(true)
  expect(isWithin('workshop.example', 'shop.example')).toBe(false)
  expect(isWithin('shop.example.evil.example', 'shop.example')).toBe(false)
})
