import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quoteIdentifier } from '../identifiers.ts'
import { quoteString } from './statement.ts'
import { tokens, Untokenizable } from './tokens.ts'

const texts = (sql: string): string[] => [...tokens(sql)].map(({ kind, text }) => `${kind} ${text}`)

describe('tokens of ClickHouse SQL', () => {
  test('are words, quoted names, literals and symbols', () => {
    expect(texts('SELECT `a b`, "c", \'d\', 1.5e3, x1$ FROM t')).toEqual([
      'word SELECT',
      'quoted a b',
      'symbol ,',
      'quoted c',
      'symbol ,',
      'literal ',
      'symbol ,',
      'literal 1.5e3',
      'symbol ,',
      'word x1$',
      'word FROM',
      'word t',
    ])
  })

  test('leave comments out', () => {
    expect(texts('a -- b\n/* c */ d # e\n#! f\ng // h\ni --')).toEqual([
      'word a',
      'word d',
      'word g',
      'word i',
    ])
    expect(texts('a #b')).toEqual(['word a', 'symbol #', 'word b'])
  })

  test('end strings where the engine ends them', () => {
    expect(texts("'it''s' 'a\\'b' 'c\\\\' x")).toEqual(['literal ', 'literal ', 'literal ', 'word x'])
    expect(texts("$tag$ ' ; $other$ $tag$ x")).toEqual(['literal ', 'word x'])
    expect(texts('‘it’s’ “a ; b” x')).toEqual(['literal it', 'word s', 'quoted a ; b', 'word x'])
  })

  test('unescape quoted names', () => {
    expect(texts('`fi\\x6ce` `a``b` "c""d" `e\\`f`')).toEqual([
      'quoted file',
      'quoted a`b',
      'quoted c"d',
      'quoted e`f',
    ])
  })

  test('skip every space of Unicode', () => {
    expect(texts('file\u00a0\u2003\u200b(')).toEqual(['word file', 'symbol ('])
  })

  test.each(["'open", '"open', '`open', '/* open', '$x$ open', '“open', 'a\0b', "'a\\"])(
    'refuse %j',
    (sql) => {
      expect(() => texts(sql)).toThrow(Untokenizable)
    },
  )

  test('see any text that was quoted as one literal or name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(texts(`x ${quoteString(text)} y`)).toEqual(['word x', 'literal ', 'word y'])
        expect(texts(quoteIdentifier(text))).toEqual([`quoted ${text}`])
      }),
    )
  })
})
