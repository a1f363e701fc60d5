import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linesOf, readRefusedRow } from './log-lines.ts'

describe('lines of a payload', () => {
  it('are the payload again when put together, each with its newline', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''))),
        (texts) => {
          const payload = Buffer.from(texts.map((text) => `${text}\n`).join(''))
          const lines = linesOf(payload)
          expect(lines.map(String)).toEqual(texts.map((text) => `${text}\n`))
          expect(Buffer.concat(lines)).toEqual(payload)
        },
      ),
    )
  })
})

describe('a refused row', () => {
  const id = '65f0c0ffee5ca1ab1e0ddba1'

  it('tells what its beginning says, however it ends', () => {
    const text = `{"q":1795171225879805,"z":"dropped","k":"${id}","d":"${id}","r":1795171225879,"m":12,"rule":"x`
    expect(readRefusedRow(Buffer.from(`${text}\n`), 'why')).toEqual({
      kind: 'dropped',
      events: 12,
      company: id,
      datasource: id,
      sequence: 1_795_171_225_879_805,
      receivedAt: 1_795_171_225_879,
      error: 'why',
      line: text,
    })
  })

  it('that is illegible is an event of no datasource', () => {
    expect(readRefusedRow(Buffer.from('\0\xff nonsense\n'), 'why')).toMatchObject({
      kind: 'e',
      events: 0,
      company: '',
      datasource: '',
      sequence: 0,
      receivedAt: 0,
    })
  })
})
