import { describe, expect, test } from 'vitest'
import { faultOfCode } from './code.ts'

const start = 'must be a script that browsers can run; '

describe('code', () => {
  test.each([
    [''],
    ['// nothing yet'],
    ['document.title = `a\\`b`'],
    ['(async () => { await fetch("/x"); const { a } = await import("/a.js") })()'],
    ['label: for (;;) break label'],
    ['class A { #b = 1; static { this.c ??= 2 } }'],
    ['<!-- hidden\nalert(1)'],
    ['with (document) title = 1'],
    ['x = "</script>"'],
    [`x = "${'y'.repeat(20_000)}"`],
  ])('that browsers can parse has no fault: %j', (code) => {
    expect(faultOfCode(code)).toBeUndefined()
  })

  test.each([
    ['foo bar', "line 1, column 5: Unexpected identifier 'bar'"],
    ['a()\n\tb(\tc) d', "line 2, column 8: Unexpected identifier 'd'"],
    ['a()\r\nb)', "line 2, column 2: Unexpected token ')'"],
    ['a(', 'line 1, column 3: Unexpected end of input'],
    ['if (a) {\n', 'line 2, column 1: Unexpected end of input'],
    ['let x = 1\nlet x = 2', "line 2, column 5: Identifier 'x' has already been declared"],
    ['é = "😀" )', "line 1, column 10: Unexpected token ')'"],
    ['/(/', 'line 1, column 1: Invalid regular expression: /(/: Unterminated group'],
    ['a b //# sourceURL=x:9', "line 1, column 3: Unexpected identifier 'b'"],
    [`${';'.repeat(900)})`, "line 1, column 901: Unexpected token ')'"],
    [`a\n${';'.repeat(9_000)})`, "line 2, beyond column 1000: Unexpected token ')'"],
  ])('%j has its fault with line and column', (code, fault) => {
    expect(faultOfCode(code)).toBe(`${start}${fault}`)
  })

  test.each(['import a from "/a.js"', 'export const a = 1', 'await a()', 'import.meta.url'])(
    'of a module is refused, and what is possible is named: %s',
    (code) => {
      expect(faultOfCode(code)).toMatch(/line 1, column \d+: .* \(it runs as a script and not as a module;/)
    },
  )

  test('within a script element is refused, and the element is named', () => {
    expect(faultOfCode('\n<script>a()</script>')).toBe(
      `${start}line 2, column 1: Unexpected token '<' (leave out the element <script> around it)`,
    )
  })

  test.each(['(', '[', 'a=>', '{', '!', '`${'])(
    'that nests too deeply to be read is refused: %s',
    (piece) => {
      expect(faultOfCode(piece.repeat(20_000 / piece.length))).toMatch(/^must /)
    },
  )

  test('is compiled and never run', () => {
    expect(faultOfCode('globalThis.hasRun = true; throw new Error()')).toBeUndefined()
    expect(globalThis).not.toHaveProperty('hasRun')
  })
})
