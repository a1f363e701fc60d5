import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { DiskReserve } from '../../platform/files/disk-reserve.ts'
import { type AnswerBody, createAnswerBodies } from './answer-body.ts'

const room = new DiskReserve({ directory: tmpdir(), reserveBytes: 0, clock: systemClock })

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts
}

const total = () => undefined

const large = 'x'.repeat(300_000)

const giveUp = (answer?: AnswerBody) => {
  if (!Buffer.isBuffer(answer?.body)) answer?.body.destroy()
}
const textOf = (body: AnswerBody['body']) => (Buffer.isBuffer(body) ? body.toString() : text(body))

it('is the success envelope around the pieces, with warnings where there are some', async () => {
  const bodies = createAnswerBodies({ room, directory: tmpdir() })
  for (const [warnings, total] of [
    [[], undefined],
    [[{ path: 'limit', message: 'more "rows"' }], 0],
  ] as const) {
    for (const parts of [[], ['[{"a":"é\n😀"}', ']'], [large, '"'.repeat(100_000), large]]) {
      const answer = { pieces: pieces(...parts), warnings, total: () => total }
      const { length, body } = await bodies.collect(answer, 'a')
      const sent = await textOf(body)
      expect(Buffer.byteLength(sent)).toBe(length)
      expect(JSON.parse(sent)).toEqual({
        status: 'success',
        program: 'millrace',
        version: expect.any(String),
        datetime: expect.any(String),
        message: 'ok',
        code: 200,
        data: parts.join(''),
        ...(total === undefined ? {} : { total }),
        ...(warnings.length > 0 ? { warnings } : {}),
      })
    }
  }
})

it('holds as many bytes as are sent, to the last one', async () => {
  const bodies = createAnswerBodies({ room, directory: tmpdir(), maxBytes: 10 })
  const sent = await bodies.collect({ pieces: pieces('"'.repeat(4), 'é'), warnings: [], total }, 'a')
  expect(JSON.parse(await textOf(sent.body)).data).toBe('""""é')
  const more = bodies.collect({ pieces: pieces('"'.repeat(4), 'éx'), warnings: [], total }, 'a')
  await expect(more).rejects.toMatchObject({
    errorName: 'resultTooLarge',
    data: { limit: 10, unit: 'bytes' },
  })
})

it('keeps eight files of one company at once, and takes the next when one was sent or given up', async () => {
  const bodies = createAnswerBodies({ room, directory: tmpdir() })
  const collect = (company: string) => bodies.collect({ pieces: pieces(large), warnings: [], total }, company)
  const sending = await Promise.all(Array.from({ length: 8 }, () => collect('a')))
  await expect(collect('a')).rejects.toMatchObject({ errorName: 'tooManyRequests' })
  const others = [await collect('b')]
  // What fits into the memory needs no place.
  others.push(await bodies.collect({ pieces: pieces('small'), warnings: [], total }, 'a'))
  const rest = sending.slice(2)
  giveUp(sending[0])
  // Sent to its end.
  if (sending[1]) await textOf(sending[1].body)
  others.push(await collect('a'), await collect('a'))
  await expect(collect('a')).rejects.toMatchObject({ errorName: 'tooManyRequests' })
  for (const each of [...rest, ...others]) giveUp(each)
})

it('is unavailable while there is no place for files', async () => {
  const bodies = createAnswerBodies({ room, directory: '/nonexistent' })
  const collected = bodies.collect({ pieces: pieces(large), warnings: [], total }, 'a')
  await expect(collected).rejects.toMatchObject({ errorName: 'unavailable' })
})
