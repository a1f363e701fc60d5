import { spawnSync } from 'node:child_process'
import { checkEmail } from '@millrace/contract/operations/auth.ts'
import { collectEvents } from '@millrace/contract/operations/collector.ts'
import { updateSavedQuery } from '@millrace/contract/operations/saved-queries.ts'
import { runQuery } from '@millrace/contract/operations/statistics.ts'
import { deleteTagValue } from '@millrace/contract/operations/tags.ts'
import { listParameterValues } from '@millrace/contract/operations/workflows.ts'
import { expect, test } from 'vitest'
import { curlCommand, readableJson, shellQuote } from './curl.ts'
import { quickStart } from './quick-start.ts'

const addresses = { baseUrl: 'http://127.0.0.1:8080/v2', collectorUrl: 'http://127.0.0.1:9090' }

/** The arguments that curl would get from a real shell; curl itself is replaced. */
function argumentsOf(command: string): string[] {
  const { stdout, stderr } = spawnSync('sh', ['-c', `TOKEN=t; curl() { printf '%s\\0' "$@"; }\n${command}`])
  expect(String(stderr)).toBe('')
  return String(stdout).split('\0').slice(0, -1)
}

test('gives the shell exactly the example body, quotes included', () => {
  const { value } = runQuery.examples.filtered
  const body = {
    ...value,
    limit: 5,
    filters: [{ member: 'a', operator: 'equals', values: ["it's $HOME `x`"] }],
  }
  const words = argumentsOf(curlCommand(runQuery, addresses, body))
  expect(words.slice(0, 6)).toEqual([
    '-sS',
    'http://127.0.0.1:8080/v2/statistics/query',
    '-H',
    'Authorization: Bearer t',
    '-H',
    'Content-Type: application/json',
  ])
  expect(JSON.parse(words.at(-1) ?? '')).toEqual(body)
})

test('fills path and query with examples and names other methods', () => {
  expect(argumentsOf(curlCommand(deleteTagValue, addresses))).toEqual([
    '-sS',
    '-X',
    'DELETE',
    'http://127.0.0.1:8080/v2/statistics/analytics/settings/tags/65f0c0ffee5ca1ab1e0ddba1/values/65f0c0ffee5ca1ab1e0ddba1',
    '-H',
    'Authorization: Bearer t',
  ])
  expect(argumentsOf(curlCommand(listParameterValues, addresses))[1]).toBe(
    'http://127.0.0.1:8080/v2/workflows/usage/parameter-values?name=utm_campaign',
  )
  expect(argumentsOf(curlCommand(updateSavedQuery, addresses, { name: 'x' })).slice(1, 3)).toEqual([
    '-X',
    'PATCH',
  ])
})

test('sends events to the collector without a token', () => {
  const words = argumentsOf(curlCommand(collectEvents, addresses, collectEvents.examples.one.value))
  expect(words[1]).toBe('http://127.0.0.1:9090/collect/65f0c0ffee5ca1ab1e0ddba1/tracker')
  expect(words.join(' ')).not.toContain('Authorization')
})

test('encodes the fields of a form', () => {
  const words = argumentsOf(curlCommand(checkEmail, addresses, checkEmail.examples.password.value))
  expect(words).toContain('redirect_uri=https://app.example.com/signed-in')
  expect(words.filter((word) => word === '--data-urlencode')).toHaveLength(7)
})

test('quotes for a shell what needs it', () => {
  expect(shellQuote('http://a.example/b')).toBe('http://a.example/b')
  expect(shellQuote("a'b c")).toBe(`'a'\\''b c'`)
})

test('writes JSON on one line where it fits', () => {
  expect(readableJson({ a: [1, 2], b: {}, c: [] })).toBe('{ "a": [1, 2], "b": {}, "c": [] }')
  const long = { text: 'x'.repeat(80), list: [{ a: 'y'.repeat(80) }] }
  expect(readableJson(long)).toBe(JSON.stringify(long, undefined, 2))
})

test('the quick start holds three commands that a shell reads as they are meant', () => {
  const [token, event, query] = quickStart({ ...addresses, clientId: 'c1', companyId: 'k1' }).map(
    ({ command }) => command,
  )
  const piped = spawnSync('sh', [
    '-c',
    `curl() { printf '{"access_token":"abc","refresh_token":"def"}'; }\n${token}\necho "$TOKEN"`,
  ])
  expect(String(piped.stdout)).toBe('abc\n')
  expect(JSON.parse(argumentsOf(event ?? '').at(-1) ?? '')).toMatchObject({
    key: 'k1',
    eventId: expect.stringMatching(/^\d+$/),
    v: 1,
  })
  expect(JSON.parse(argumentsOf(query ?? '').at(-1) ?? '')).toMatchObject({ measures: ['events.count'] })
})
