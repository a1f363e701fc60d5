import { expect, test } from 'vitest'
import { nearestName } from './nearest.ts'

test('names the known word that is a few edits away, whatever its case', () => {
  expect(nearestName('MILLRACE_PROT', ['MILLRACE_HOST', 'MILLRACE_PORT'])).toBe('MILLRACE_PORT')
  expect(nearestName('measure', ['measures', 'dimensions'])).toBe('measures')
})

test('names nothing when no known word is close', () => {
  expect(nearestName('zebra', ['measures', 'dimensions'])).toBeUndefined()
})
