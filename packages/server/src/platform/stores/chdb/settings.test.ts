import { describe, expect, test } from 'vitest'
import { type Kind, settingsFor } from './settings.ts'

const environment = {
  known: new Set(['max_threads', 'max_execution_time', 'max_memory_usage', 'max_result_rows', 'log_comment']),
  memoryBytes: 4 * 1024 ** 3,
}

function argumentsFor(asked: Record<string, string>, kind: Kind = 'reading'): Record<string, string> {
  const { arguments: list } = settingsFor(new Map(Object.entries(asked)), kind, 'key', environment)
  return Object.fromEntries(list.map((each) => each.slice(2).split('=') as [string, string]))
}

describe('settings of a statement', () => {
  test('always hold limits', () => {
    expect(argumentsFor({})).toMatchObject({
      readonly: '1',
      log_comment: 'key',
      max_execution_time: '30',
      max_memory_usage: String(1024 ** 3),
      max_result_rows: '1000000',
    })
    expect(argumentsFor({}, 'writing')).toMatchObject({ max_execution_time: '600' })
    expect(argumentsFor({}, 'writing').readonly).toBeUndefined()
  })

  test('lower a limit as asked, and raise it up to the most', () => {
    expect(argumentsFor({ max_execution_time: '0.5' }).max_execution_time).toBe('0.5')
    expect(argumentsFor({ max_execution_time: '0' }).max_execution_time).toBe('600')
    expect(argumentsFor({ max_execution_time: '1e9' }).max_execution_time).toBe('600')
    expect(argumentsFor({ max_memory_usage: '0' }).max_memory_usage).toBe(
      String(Math.floor(0.8 * 4 * 1024 ** 3)),
    )
  })

  test('have no bound for the size of a result that is sent as it comes', () => {
    expect(argumentsFor({ max_result_rows: '0' })).toMatchObject({ max_result_rows: '10000000' })
    expect(argumentsFor({ max_result_rows: '0' }, 'streaming')).toMatchObject({
      max_result_rows: '0',
      readonly: '1',
    })
    expect(argumentsFor({}, 'streaming')).toMatchObject({ max_result_rows: '1000000' })
    expect(argumentsFor({ max_execution_time: '0' }, 'streaming').max_execution_time).toBe('7200')
  })

  test.each(['', ' ', '-1', 'NaN', 'Infinity', 'ten', '1 --readonly=0'])('refuse %j as a limit', (text) => {
    expect(() => argumentsFor({ max_result_rows: text })).toThrow(/BAD_ARGUMENTS/)
  })

  test('pass what the engine knows, and refuse what it does not know or what is kept', () => {
    expect(argumentsFor({ max_threads: '1', wait_end_of_query: '1' })).toMatchObject({ max_threads: '1' })
    expect(argumentsFor({ wait_end_of_query: '1' }).wait_end_of_query).toBeUndefined()
    expect(() => argumentsFor({ path: '/' })).toThrow(/UNKNOWN_SETTING/)
    expect(() => argumentsFor({ 'config-file': '/etc/x' })).toThrow(/UNKNOWN_SETTING/)
    expect(() => argumentsFor({ log_comment: 'x' })).toThrow(/READONLY/)
    expect(() => argumentsFor({ max_threads: '1\0--path=/' })).toThrow(/BAD_ARGUMENTS/)
  })

  test('cannot take readonly back', () => {
    expect(argumentsFor({ readonly: '2' }).readonly).toBe('1')
    expect(argumentsFor({ readonly: '0' }).readonly).toBe('1')
  })
})
