import { describe, expect, test } from 'vitest'
import { createStreamReader } from './event-stream.ts'

const read = (...pieces: string[]) => {
  const take = createStreamReader()
  return pieces.flatMap((piece) => take(piece))
}

describe('server-sent events', () => {
  test('are read by their names, with comments and unknown fields left out', () => {
    expect(read(':\n\nevent: open\ndata: {"a":1}\n\nid: 7\nretry: 9\ndata:x\ndata: y\n\n')).toEqual([
      { event: 'open', data: '{"a":1}' },
      { event: 'message', data: 'x\ny' },
    ])
  })

  test('are the same however the text is cut', () => {
    const text = '\ufeffevent: a\r\ndata: 1\r\n\r\ndata\rdata: 2\r\rdata:  3\n\n'
    const whole = read(text)
    expect(whole).toEqual([
      { event: 'a', data: '1' },
      { event: 'message', data: '\n2' },
      { event: 'message', data: ' 3' },
    ])
    expect(read(...text)).toEqual(whole)
    for (let cut = 1; cut < text.length; cut++)
      expect(read(text.slice(0, cut), text.slice(cut))).toEqual(whole)
  })

  test('wait for the end of a message', () => {
    expect(read('event: a\ndata: 1\n')).toEqual([])
    expect(read('event: a\n\n')).toEqual([])
  })
})
