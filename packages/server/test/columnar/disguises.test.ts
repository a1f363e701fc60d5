import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestColumnar, type TestEngine } from '../support/columnar.ts'

/** What the engine skips between two words, or may. */
const gap = fc
  .array(
    fc.constantFrom(
      ...[' ', '\n', '\t', '\f', '/**/', '/* x */', '-- x\n', '// x\n', '# x\n', '#! x\n', '', '.', ';'],
      ...['\u00a0', '\u0085', '\u180e', '\u2003', '\u200b', '\u2028', '\u2060', '\u3000', '\ufeff'],
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => parts.join(''))

const directory = mkdtempSync(join(tmpdir(), 'millrace-disguises-'))
const secret = join(directory, 'secret')
const out = join(directory, 'out')

let engine: TestEngine

beforeAll(async () => {
  writeFileSync(secret, 'top secret\n')
  engine = await createTestColumnar({ migrated: false })
})

afterAll(async () => {
  await engine?.close()
  rmSync(directory, { recursive: true, force: true })
})

async function answerTo(sql: string): Promise<string> {
  try {
    return JSON.stringify(await engine.query({ sql, settings: { max_execution_time: 2 } }))
  } catch (error) {
    return String(error)
  }
}

test('no disguise lets a reading statement read a file', async () => {
  const names = ['file', 'FILE', '`file`', '"file"', '“file”', '`fi\\x6ce`', '"f\\ile"', '`\\146ile`']
  const heads = [
    'select ',
    'select * from ',
    'describe ',
    'desc table ',
    'with ',
    'select * from (describe ',
    '((select ',
  ]
  const statement = fc
    .tuple(fc.constantFrom(...heads), fc.constantFrom(...names), gap, fc.constantFrom("'x'", '$$x$$', '‘x’'))
    .map(([head, name, between, path]) => `${head}${name}${between}(${path.replace('x', secret)})`)
  await fc.assert(
    fc.asyncProperty(statement, fc.constantFrom('', ')', '))', ' as x select x'), async (sql, tail) => {
      const answer = await answerTo(sql + tail)
      expect(answer).not.toContain('top secret')
      expect(answer).not.toContain('Nullable(String)')
    }),
    { numRuns: 250 },
  )
})

test('no disguise lets a reading statement write a file', async () => {
  await fc.assert(
    fc.asyncProperty(gap, gap, fc.constantFrom('into', 'INTO', '`into`'), async (first, second, into) => {
      await answerTo(`select 1 ${into}${first}outfile${second}'${out}'`)
      expect(existsSync(out)).toBe(false)
    }),
    { numRuns: 250 },
  )
})

test('no disguise lets a second statement in', async () => {
  const piece = fc.constantFrom(
    ...[
      ';',
      "'",
      '"',
      '`',
      '\\',
      '$$',
      '$a$',
      '--',
      '//',
      '#',
      '/*',
      '*/',
      '\n',
      '‘',
      '’',
      '“',
      '”',
      ' x',
      ')',
      '\\G',
    ],
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      const answer = await answerTo(`select 1 as one${pieces.join('')};select 2 as two`)
      expect(answer).not.toContain('"two"')
    }),
    { numRuns: 250 },
  )
})
