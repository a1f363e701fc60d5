import { describe, expect, it } from 'vitest'
import { readWantedResult } from './result-format.ts'

describe('the wanted result', () => {
  it.each([
    [undefined, undefined, 'json', false],
    ['', undefined, 'json', false],
    ['*/*', undefined, 'json', false],
    ['application/json, text/plain, */*', undefined, 'json', false],
    ['application/json', 'csv', 'csv', false],
    ['*/*', 'csv', 'csv', false],
    ['text/csv', undefined, 'csv', true],
    ['TEXT/CSV; header=present', undefined, 'csv', true],
    ['text/*', undefined, 'csv', true],
    ['application/x-ndjson', undefined, 'ndjson', true],
    ['application/json;q=0.5, text/csv', undefined, 'csv', true],
    ['text/csv;q=0.1, application/json', undefined, 'json', false],
    ['text/csv, */*;q=0.1', undefined, 'csv', true],
    ['application/json;q=0, */*', undefined, 'csv', true],
  ] as const)('of Accept %j and format %j is %s, streamed: %s', (accept, format, wanted, streamed) => {
    expect(readWantedResult(accept, format)).toEqual({ format: wanted, streamed })
  })

  it('of types that are not offered is refused', () => {
    for (const accept of ['text/html', 'image/*', 'text/csv;q=0', 'x', 'application/json;q=2']) {
      expect(() => readWantedResult(accept, undefined)).toThrow('None of the accepted content types')
    }
  })
})
