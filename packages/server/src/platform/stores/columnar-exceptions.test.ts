import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { exceptionGuard } from './columnar-exceptions.ts'

const tag = 'a1b2c3d4e5f60718'
const message =
  'Code: 395. DB::Exception: too far (é) (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO) (version 26.7.2.1)'
const block = `\r\n__exception__\r\n${tag}\r\n${message}\n${Buffer.byteLength(message) + 1} ${tag}\r\n__exception__\r\n`

async function passThrough(chunks: readonly Buffer[]): Promise<{ text: string; error: unknown }> {
  const guard = Readable.from(chunks, { objectMode: false }).pipe(exceptionGuard(tag))
  const passed: Buffer[] = []
  try {
    for await (const chunk of guard as AsyncIterable<Buffer>) passed.push(chunk)
    return { text: Buffer.concat(passed).toString(), error: undefined }
  } catch (error) {
    return { text: Buffer.concat(passed).toString(), error }
  }
}

describe('an exception inside a result', () => {
  const whole = Buffer.from(`1\r\n2\r\n${block}`)

  test('is found wherever the pieces are cut', async () => {
    for (let at = 1; at < whole.length; at++) {
      const { text, error } = await passThrough([whole.subarray(0, at), whole.subarray(at)])
      expect('1\r\n2\r\n').toContain(text)
      expect(error).toMatchObject({ name: 'ColumnarError', code: 395, message: 'too far (é)' })
    }
  })

  test('is found byte by byte', async () => {
    const { text, error } = await passThrough(Array.from(whole, (byte) => Buffer.of(byte)))
    expect('1\r\n2\r\n').toContain(text)
    expect(error).toMatchObject({ code: 395 })
  })

  test('is an error also when its end is missing', async () => {
    const { error } = await passThrough([whole.subarray(0, -20)])
    expect(error).toMatchObject({ code: 395 })
  })

  test('is not seen in a result that only looks like one', async () => {
    const lookalike = Buffer.from(
      `\r\n__exception__\r\n0000000000000000\r\n${tag}\r\n__exception__\r\n\r\n__exc`,
    )
    for (let at = 1; at < lookalike.length; at++) {
      const result = await passThrough([lookalike.subarray(0, at), lookalike.subarray(at)])
      expect(result).toEqual({ text: lookalike.toString(), error: undefined })
    }
  })
})
