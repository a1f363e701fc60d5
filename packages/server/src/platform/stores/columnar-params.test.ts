import { expect, test } from 'vitest'
import { checkLength } from './columnar-params.ts'

test('parameters of a third of a megabyte go, longer ones are refused with their size', () => {
  expect(() => checkLength(undefined)).not.toThrow()
  expect(() => checkLength({ text: 'x'.repeat(340_000) })).not.toThrow()
  expect(() => checkLength({ list: Array.from({ length: 1000 }, () => 'é'.repeat(150)) })).not.toThrow()
  expect(() => checkLength({ text: 'x'.repeat(350_000) })).toThrow(/350\d{3} bytes/)
  expect(() => checkLength({ map: new Map([['key', [{ a: 'é'.repeat(200_000) }]]]) })).toThrow(/QUERY|bytes/)
  expect(() => checkLength({ n: 1, b: true, nothing: null, date: new Date(0) })).not.toThrow()
})
