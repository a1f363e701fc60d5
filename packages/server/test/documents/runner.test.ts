import { expect, test } from 'vitest'
import { differences, fitsText, lastJson } from '../support/documents/answers.ts'
import { blocksOf } from '../support/documents/blocks.ts'
import { programsOf, requestIn } from '../support/documents/programs.ts'
import { runPage } from '../support/documents/run-page.ts'
import { makeClone } from '../support/documents/session.ts'

async function faultsOf(source: string): Promise<string[]> {
  const clone = makeClone()
  try {
    return await runPage({
      page: { name: 'a page', blocks: blocksOf(source) },
      clone,
      origin: 'http://127.0.0.1:1',
      interpreters: {},
      readPrinted: () => Promise.reject(new Error('nothing is started')),
    })
  } finally {
    clone.remove()
  }
}
const sh = (code: string, words = '') => `\`\`\`sh ${words}\n${code}\n\`\`\`\n`
const answer = (code: string, words = 'json answer') => `\`\`\`${words}\n${code}\n\`\`\`\n`

test('a page whose commands succeed and print what it shows has no fault', async () => {
  const page = [
    sh('A=1\nsay() { echo "{\\"a\\": $A}"; }'),
    sh('say'),
    answer('{"a": 2}'),
    answer('{"a": 1}', 'json answer same'),
  ]
  expect(await faultsOf(page.join(''))).toEqual([])
})

test('finds a command that fails, within a pipe too, and a variable that is not set', async () => {
  for (const code of ['false', 'false | cat', 'echo $NOT_SET', 'exit 0', 'curl -sS http://127.0.0.1:1/'])
    expect(await faultsOf(sh(code))).toEqual([
      expect.stringContaining(`block 1 (sh), ${code}: a command failed`),
    ])
  expect(await faultsOf(sh('false') + sh('echo next'))).toHaveLength(1)
})

test('finds an answer that differs from the page, and a refusal that does not come', async () => {
  expect(await faultsOf(sh(`echo '{"a": "1"}'`) + answer('{"a": 1}'))).toHaveLength(1)
  expect(await faultsOf(sh('echo 2') + answer('3', 'text answer'))).toHaveLength(1)
  expect(await faultsOf(sh('true', 'refused'))).toEqual([
    expect.stringContaining('no request of it was refused'),
  ])
})

test('finds a program that fails, and runs one of several blocks once, at its end', async () => {
  const ts = (code: string) => `\`\`\`ts\n${code}\n\`\`\`\n`
  const begin = "import { writeFileSync } from 'node:fs'\nconst n: number = 1"
  expect(await faultsOf(ts(begin) + ts('console.log(n + 1)') + answer('2', 'text answer'))).toEqual([])
  expect(await faultsOf(ts(begin) + ts('process.exit(3)'))).toEqual([
    expect.stringContaining('it ended with 3'),
  ])
  const programs = programsOf({
    name: 'x',
    blocks: blocksOf(ts(begin) + ts('n') + answer('{}') + ts('1') + ts('import "x"')),
  })
  expect(programs.map(({ last }) => last)).toEqual([2, 4, 5])
})

test('does not run what has a reason not to', async () => {
  expect(blocksOf(sh('false', 'no-run: needs a thing'))).toEqual([
    { number: 1, language: 'sh', words: [], reason: 'needs a thing', code: 'false' },
  ])
  expect(await faultsOf(sh('false', 'no-run: needs a thing'))).toEqual([])
})

test('an answer fits in shape or in value', () => {
  const fits = (shown: unknown, given: unknown, same = false) => differences(shown, given, same).length === 0
  expect(fits({ a: [1], '…': '…' }, { a: [7, 8], b: 1 })).toBe(true)
  expect(fits({ a: [1] }, { a: [] })).toBe(false)
  expect(fits({ a: 1 }, {})).toBe(false)
  expect(fits({ a: null }, { a: 1 })).toBe(true)
  expect(fits({ data: '[{"n": 1}]' }, { data: '[{"n":2}]' })).toBe(true)
  expect(fits({ data: '[{"n": 1}]' }, { data: '[{"m":2}]' })).toBe(false)
  expect(fits({ a: 1 }, { a: 1, b: 2 }, true)).toBe(false)
  expect(fits({ a: 1, '…': '…' }, { a: 1, b: 2 }, true)).toBe(true)
  expect(fits([1, '…'], [1, 2, 3], true)).toBe(true)
  expect(fits(['a…'], ['abc'], true)).toBe(true)
  expect(fits([{ a: 1 }], [{ a: 2 }], true)).toBe(false)
  expect(fitsText('200\n…', '200\nx')).toBe(true)
  expect(fitsText('2.0', '200')).toBe(false)
  expect(lastJson('saved\n{\n  "a": 1\n}\n')).toEqual({ a: 1 })
})

test('reads the request that a program in another language sends', () => {
  const kotlin = `val body = """
    {"tmpId": "$device", "timestamp": \${System.currentTimeMillis()}, "data": {"value": 59.9}}
  """.trimIndent()
  request("http://127.0.0.1:8080/collect/1/tracker").header("Content-Type", "application/json")`
  const { url, headers, body } = requestIn(kotlin)
  expect([url, headers]).toEqual([
    'http://127.0.0.1:8080/collect/1/tracker',
    { 'content-type': 'application/json' },
  ])
  expect(JSON.parse(body ?? '')).toEqual({
    tmpId: expect.any(String),
    timestamp: expect.any(Number),
    data: { value: 59.9 },
  })
  expect(() => requestIn('nothing')).toThrow('no literal that begins with http')
})
