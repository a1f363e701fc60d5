import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createOutputLines } from './output-lines.ts'

async function linesOf(...chunks: (string | Buffer)[]): Promise<string[]> {
  const stream = new PassThrough()
  const lines: string[] = []
  createOutputLines().attach(stream, (line) => lines.push(line))
  for (const chunk of chunks) stream.write(chunk)
  stream.end()
  await setImmediate()
  return lines
}

test('joins chunks into lines, also inside a character, and gives the unended last one', async () => {
  const bytes = Buffer.from('größer\r\nzwei\n\ndrei')
  expect(await linesOf(bytes.subarray(0, 3), bytes.subarray(3))).toEqual(['größer', 'zwei', 'drei'])
})

test('cuts a line without end into pieces instead of keeping it', async () => {
  const lines = await linesOf('x'.repeat(20_000), `${'x'.repeat(10)}\nnext\n`)
  expect(lines.map((line) => line.length)).toEqual([8192, 8192, 3626, 4])
})

test('keeps the last forty lines and tells them to who listens later', async () => {
  const output = createOutputLines()
  const stream = new PassThrough()
  output.attach(stream, () => {})
  for (let i = 0; i < 100; i++) stream.write(`${i}\n`)
  await setImmediate()
  expect(output.recent()).toHaveLength(40)
  const heard: string[] = []
  output.listen((line) => heard.push(line))
  expect(heard.at(0)).toBe('60')
  expect(heard.at(-1)).toBe('99')
})
