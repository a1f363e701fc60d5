import { expect, test } from 'vitest'
import { createActivityStream } from './activity-stream.ts'

const shown = { at: '2026-01-15T12:00:00.000Z', outcome: 'accepted', name: 'x'.repeat(1_000) } as const

test('a client that does not read costs a bounded piece of memory, and is told how much it missed', async () => {
  const stream = createActivityStream()
  for (let i = 0; i < 10_000; i++) stream.send('activity', shown, 1)
  expect(stream.body.readableLength).toBeLessThan(32 * 1_024)
  stream.body.setEncoding('utf8')
  let text = ''
  let closed: unknown
  stream.body.on('data', (piece: string) => {
    text += piece
    if (text.includes('event: skipped')) stream.end('closing')
  })
  stream.body.on('end', () => {
    closed = true
  })
  await expect.poll(() => closed).toBe(true)
  const sent = text.split('event: activity').length - 1
  const [, skipped] = /event: skipped\ndata: {"count":(\d+)}\n\n/.exec(text) ?? []
  expect(sent).toBeGreaterThan(0)
  expect(sent + Number(skipped)).toBe(10_000)
  expect(text).toMatch(/event: end\ndata: {"reason":"closing"}\n\n$/)
})

test('what ended takes nothing more', () => {
  const stream = createActivityStream()
  stream.end('gone')
  stream.send('activity', shown, 1)
  stream.end('gone')
  stream.body.destroy()
  stream.send('activity', shown, 1)
  stream.beat()
  expect(stream.body.errored).toBeNull()
})
