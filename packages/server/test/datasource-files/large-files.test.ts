import { rm } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import { measureFile, type TextFormat, writeLargeFile } from '../support/large-files.ts'
import { isFull } from '../support/long.ts'
import { createFileDirectory } from '../support/source-files.ts'

const long = isFull(import.meta.filename)

const mebibyte = 1024 * 1024
const files = createFileDirectory()
const formats: readonly TextFormat[] = long ? ['csv', 'ndjson', 'json', 'xml'] : ['csv', 'json']
/** Large enough that an analysis takes all that it ever takes. */
const smallBytes = 24 * mebibyte
const largeBytes = (long ? 1024 : 50) * mebibyte
/** All of it is read. */
const mediumBytes = (long ? 128 : 50) * mebibyte
/** What the same program needs more or less from run to run. */
const noise = 1.6

const written: string[] = []
afterAll(() => Promise.all(written.map((path) => rm(path, { force: true }))))

test.each(formats)(
  'the memory of an analysis and of reading %s does not grow with the file (D06)',
  async (format) => {
    const [small, medium, large] = await Promise.all(
      [smallBytes, mediumBytes, largeBytes].map(async (bytes) => {
        const path = await files.write(`products.${format}`, '')
        written.push(path)
        await writeLargeFile(path, format, bytes)
        return path
      }) as [Promise<string>, Promise<string>, Promise<string>],
    )
    const yardstick = await measureFile('analyze', small, format)
    const analyzed = await measureFile('analyze', large, format)
    expect(analyzed.result).toEqual(yardstick.result)
    expect(analyzed.result).toMatchObject({
      rows: 10_000,
      fields: [
        { name: 'id', type: 'reference_id' },
        { name: 'title', type: 'name', metadata: { locale: 'en' } },
        { name: 'price', type: 'price' },
        { name: 'stock', type: 'number', ignoreIfMissing: true },
        { name: 'updated_at', type: 'datetime_iso' },
        { name: 'image_url', type: 'image_url' },
      ],
    })
    expect(analyzed.peakBytes).toBeLessThan(noise * yardstick.peakBytes)
    const smallRead = await measureFile('read', small, format)
    const read = await measureFile('read', medium, format)
    expect(Number(read.result)).toBeGreaterThan(1.9 * Number(smallRead.result))
    expect(read.peakBytes).toBeLessThan(noise * smallRead.peakBytes)
  },
)
