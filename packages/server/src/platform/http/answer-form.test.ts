import { describe, expect, it } from 'vitest'
import { readAnswerForm } from './answer-form.ts'

const offered = ['application/json', 'text/csv', 'application/x-ndjson'] as const

describe('the form of an answer', () => {
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
    ['application/*;q=0.5, application/json;q=0.1', undefined, 'ndjson', true],
    ['application/x-ndjson', 'csv', 'ndjson', true],
  ] as const)('of Accept %j and format %j is %s, bare: %s', (accept, format, wanted, bare) => {
    expect(readAnswerForm(offered, accept, format)).toEqual({ format: wanted, bare })
  })

  it('of types that are not offered is refused', () => {
    for (const accept of ['text/html', 'image/*', 'text/csv;q=0', 'x', 'application/json;q=2']) {
      expect(() => readAnswerForm(offered, accept, undefined)).toThrow('None of the accepted content types')
    }
  })
})
