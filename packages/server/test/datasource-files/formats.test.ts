import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, test } from 'vitest'
import { detectSource } from '../../src/features/datasources/formats/detect-source.ts'
import { openParquet } from '../../src/features/datasources/formats/open-parquet.ts'
import { openRows } from '../../src/features/datasources/formats/open-rows.ts'
import { SourceFault } from '../../src/features/datasources/formats/source-fault.ts'
import { sourceLimits } from '../../src/features/datasources/formats/source-options.ts'
import { isFull, times } from '../support/long.ts'
import { createFileDirectory, readAll, streamOf, workbookOf, zipOf } from '../support/source-files.ts'

const long = isFull(import.meta.filename)

const files = createFileDirectory()

describe('NDJSON', () => {
  const ndjson = (text: string) => readAll(Buffer.from(text), { format: 'ndjson' })

  test('one object a line; empty lines are no entries, other lines faults with their number', async () => {
    const { rows, faults } = await ndjson('\ufeff{"a":1}\r\n\r\n{"a":\n[1]\n5\n{"a":{"b":[2]}}')
    expect(rows).toEqual([{ a: 1 }, { a: { b: [2] } }])
    expect(faults.map(({ entry, line, message }) => [entry, line, message.slice(0, 40)])).toEqual([
      [2, 3, 'Line 3 is not JSON: Unexpected end of JS'],
      [3, 4, 'Line 4 is a list, not an object'],
      [4, 5, 'Line 5 is the value 5, not an object'],
    ])
  })

  test('whole numbers beyond 2^53 keep their digits as texts', async () => {
    const { rows } = await ndjson(
      '{"id":12345678901234567890,"ids":[9007199254740993],"n":12345678901234.5,"t":"x 12345678901234567890"}',
    )
    expect(rows).toEqual([
      {
        id: '12345678901234567890',
        ids: ['9007199254740993'],
        n: 12_345_678_901_234.5,
        t: 'x 12345678901234567890',
      },
    ])
  })

  test('levels and fields beyond their limits leave the entry out; __proto__ is a name like any other (D07)', async () => {
    const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`k${i}`, i])))
    const deep = `{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}`
    const { rows, faults } = await ndjson(`{"__proto__":{"admin":true},"a":1}\n${wide}\n${deep}\n{"b":2}\n`)
    expect(Object.getPrototypeOf(rows[0])).toBe(Object.prototype)
    expect(Object.keys(rows[0] as object)).toEqual(['__proto__', 'a'])
    expect(rows[1]).toEqual({ b: 2 })
    expect(faults.map(({ message }) => message)).toEqual([
      'Line 2 has 2001 fields: at most 2000 are read',
      'Line 3 has more than 20 levels',
    ])
  })

  test('a file without any entry of the format is refused with its first fault', async () => {
    await expect(ndjson('a,b\n1,2\n')).rejects.toMatchObject({
      rule: 'malformed',
      message: expect.stringContaining('No entry can be read. Line 1 is not JSON'),
    })
  })
})

describe('JSON', () => {
  const json = (text: string, options = {}, read = {}) =>
    readAll(Buffer.from(text), { format: 'json', ...options }, read)

  test.each([
    ['*', '[{"a":1},{"a":2}]'],
    ['products.*', '{"meta":{"n":2,"tags":["x"]},"products":[{"a":1},{"a":2}],"end":true}'],
    ['data.items.*', '{"data":{"page":1,"items":[{"a":1},{"a":2}]}}'],
    ['a\\.b.*', '{"a.b":[{"a":1},{"a":2}]}'],
  ])('the root path %s is found and can be given', async (rootPath, text) => {
    const expected = [{ a: 1 }, { a: 2 }]
    expect((await json(text)).rows).toEqual(expected)
    expect((await json(text, { rootPath })).rows).toEqual(expected)
    expect(detectSource(Buffer.from(text)).rootPath).toBe(rootPath)
  })

  test('a root path leads to values of an object, to nested lists and to one entry', async () => {
    expect((await json('{"p":{"x":{"a":1},"y":{"a":2}}}', { rootPath: 'p.*' })).rows).toEqual([
      { a: 1 },
      { a: 2 },
    ])
    expect((await json('[{"v":[{"a":1}]},{"v":[{"a":2}]}]', { rootPath: '*.v.*' })).rows).toEqual([
      { a: 1 },
      { a: 2 },
    ])
    expect((await json('{"x":[1],"one":{"a":1}}', { rootPath: 'one' })).rows).toEqual([{ a: 1 }])
    await expect(json('{"p":[{"a":1}]}', { rootPath: 'q.*' })).rejects.toMatchObject({
      rule: 'no_entries',
      message: 'There are no entries at the root path q.*',
    })
    await expect(json('{"a":1}')).rejects.toMatchObject({ rule: 'no_entries' })
  })

  test('an entry that is no JSON is left out and the next one read', async () => {
    const { rows, faults } = await json('[{"a":1},{"a":tru},7,{"a":"}]\\"[{"}, {"a":2}]')
    expect(rows).toEqual([{ a: 1 }, { a: '}]"[{' }, { a: 2 }])
    expect(faults.map(({ entry, message }) => [entry, message.slice(0, 24)])).toEqual([
      [2, 'Entry 2 is not JSON: Une'],
      [3, 'Entry 3 is the value 7, '],
    ])
  })

  test('what is cut off or no JSON is refused with its place', async () => {
    await expect(json('[{"a":1},{"a":')).rejects.toMatchObject({
      message: 'The file ends within entry 2: it is not whole',
    })
    await expect(json('[{"a":1}')).rejects.toThrow(
      'The file ends within a list or an object: it is not whole',
    )
    await expect(json('{"a" 1}')).rejects.toThrow(
      'Not JSON at character 2: a colon is expected behind a name',
    )
    await expect(json('{"x":[{"a":1}]}\n{"x":[]}')).rejects.toThrow('more than one document')
    await expect(json('')).rejects.toThrow('The file is empty')
    await expect(json(`${'['.repeat(5000)}`)).rejects.toThrow('more than 100 levels')
    await expect(json(`{"a":"${'x'.repeat(3_000_000)}`)).rejects.toMatchObject({ rule: 'too_large' })
    await expect(json(`[{"a":"${'x'.repeat(3_000_000)}"}]`)).rejects.toMatchObject({ rule: 'too_large' })
  })

  /** Whole numbers that a double may have rounded are texts. */
  const exactly = (_key: string, value: unknown) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(String(value))
      ? String(value)
      : value

  test('any list of objects anywhere in a document is read as JSON.parse reads it, in whatever pieces', async () => {
    const list = fc.array(
      fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
      {
        minLength: 1,
        maxLength: 5,
      },
    )
    await fc.assert(
      fc.asyncProperty(
        list,
        fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
        fc.constantFrom(undefined, 1, 2),
        fc.integer({ min: 1, max: 9 }),
        async (entries, around, indent, pieceBytes) => {
          const text = JSON.stringify(
            { around, 'the "list".': { entries }, after: around },
            undefined,
            indent,
          )
          const { rows, faults } = await json(text, { rootPath: 'the "list"\\..entries.*' }, { pieceBytes })
          expect(faults).toEqual([])
          expect(rows).toEqual(JSON.parse(JSON.stringify(entries), exactly))
        },
      ),
      { numRuns: times(2000, 150) },
    )
  })
})

describe('XML', () => {
  const xml = (text: string, options = {}, read = {}) =>
    readAll(Buffer.from(text), { format: 'xml', ...options }, read)
  const feed = `<?xml version="1.0"?><rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>T</title>
    <item id="1"><g:price currency="EUR">12,50</g:price><name><![CDATA[A & B]]></name><image>a.jpg</image><image>b.jpg</image></item>
    <item id="2"><name>C &amp; D &nbsp;</name><empty/><image>c.jpg</image></item></channel></rss>`

  test('attributes, repeated elements, texts and namespaces; the elements that repeat are the entries', async () => {
    const { rows } = await xml(feed)
    expect(rows).toEqual([
      {
        '@id': '1',
        'g:price': { '@currency': 'EUR', '#text': '12,50' },
        name: 'A & B',
        image: ['a.jpg', 'b.jpg'],
      },
      { '@id': '2', name: 'C & D &nbsp;', empty: '', image: 'c.jpg' },
    ])
    expect(detectSource(Buffer.from(feed)).rootPath).toBe('rss.channel.item')
    expect((await xml(feed, { rootPath: 'rss.channel.*' }).then(({ rows: all }) => all.length)) > 2).toBe(
      true,
    )
    for (const pieceBytes of [1, 3, 64]) expect(await xml(feed, {}, { pieceBytes })).toEqual(await xml(feed))
  })

  test('entries are the elements of which their parent has most, rather than lists within them', async () => {
    const item = (id: number) => `<p><id>${id}</id><v><size>S</size></v><v><size>M</size></v></p>`
    const text = `<shop><info><a>1</a></info>${[1, 2, 3, 4].map(item).join('')}</shop>`
    expect(detectSource(Buffer.from(text)).rootPath).toBe('shop.p')
    expect(detectSource(Buffer.from('<shop><p><id>1</id></p></shop>')).rootPath).toBe('shop.p')
    expect(detectSource(Buffer.from('<urls><u>a</u><u>b</u></urls>')).rootPath).toBe('urls.u')
  })

  test('document types are refused: external entities and billion laughs resolve nothing (D07)', async () => {
    const external = '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r><p><a>&e;</a></p><p/></r>'
    const laughs = `<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(1000)}">]><r><p>&b;</p><p>&b;</p></r>`
    for (const text of [external, laughs, '<!DOCTYPE r SYSTEM "http://127.0.0.1/x.dtd"><r><p/></r>']) {
      await expect(xml(text, { rootPath: 'r.p' })).rejects.toMatchObject({
        rule: 'doctype',
        message: expect.stringContaining('The document type declaration in line 1 is refused'),
      })
    }
  })

  test('what is no XML is refused with its line; elements and levels without end too (D06)', async () => {
    await expect(xml('<r>\n<p><a>1</b></p></r>', { rootPath: 'r.p' })).rejects.toMatchObject({
      rule: 'malformed',
      position: { line: 2 },
    })
    await expect(xml(`<r><p>${'x'.repeat(3_000_000)}`, { rootPath: 'r.p' })).rejects.toMatchObject({
      rule: 'too_large',
    })
    await expect(xml('<a>'.repeat(5000), { rootPath: 'r.p' })).rejects.toMatchObject({ rule: 'malformed' })
    await expect(xml('<r><q/></r>', { rootPath: 'r.p' })).rejects.toThrow(
      'There are no elements at the root path r.p',
    )
    const deep = `<r><p>${'<a>'.repeat(30)}${'</a>'.repeat(30)}</p><p><a>1</a></p></r>`
    const { rows, faults } = await xml(deep, { rootPath: 'r.p' })
    expect(rows).toEqual([{ a: '1' }])
    expect(faults).toMatchObject([
      { entry: 1, line: 1, message: 'The element of line 1 has more than 20 levels' },
    ])
  })
})

describe('XLSX', () => {
  const xlsx = async (content: Uint8Array, options = {}) =>
    readAll(await files.write('book.xlsx', content), { format: 'xlsx', ...options })

  test.each([false, true])(
    'texts, numbers, booleans and dates by the header (texts in the cells: %s)',
    async (inlineTexts) => {
      const book = await workbookOf(
        {
          Products: [
            ['Price list of the shop'],
            [],
            ['SKU', 'Price', 'Live', 'Since', undefined, 'Time'],
            ['A<1', 12.5, true, { serial: 46_022, style: 1 }, 'no name', { serial: 0.5, style: 3 }],
            ['B', 7, false, { serial: 46_022.354166666664, style: 2 }],
          ],
          Other: [['x'], [1]],
        },
        { inlineTexts },
      )
      expect((await xlsx(book)).rows).toEqual([
        { SKU: 'A<1', Price: 12.5, Live: true, Since: '2025-12-31', Time: '12:00:00' },
        { SKU: 'B', Price: 7, Live: false, Since: '2025-12-31T08:30:00.000Z' },
      ])
      expect((await xlsx(book, { sheet: 'Other' })).rows).toEqual([{ x: 1 }])
      await expect(xlsx(book, { sheet: 'Third' })).rejects.toThrow(
        'The workbook has no sheet Third, it has: Products, Other',
      )
    },
  )

  test('dates that begin in 1904, and columns beyond Z', async () => {
    const wide = Array.from({ length: 60 }, (_, index) => `c${index}`)
    const book = await workbookOf(
      { S: [wide, [{ serial: 44_560, style: 1 }, ...wide.slice(1)]] },
      { startsIn1904: true },
    )
    expect((await xlsx(book)).rows).toEqual([
      { ...Object.fromEntries(wide.map((name) => [name, name])), c0: '2025-12-31' },
    ])
  })

  test('bombs, cells without end and what is no workbook are refused (D06)', async () => {
    const tags = `<workbook>${'<a/>'.repeat(10 * 1024 * 1024)}`
    await expect(xlsx(await workbookOf({ S: [] }))).rejects.toMatchObject({ rule: 'no_entries' })
    await expect(xlsx(await zipOf({ 'xl/workbook.xml': tags }))).rejects.toMatchObject({ rule: 'inflation' })
    await expect(xlsx(await zipOf({ 'a.txt': 'x' }))).rejects.toThrow('the archive has no xl/workbook.xml')
    await expect(xlsx(Buffer.from('PK\x03\x04 nothing'))).rejects.toMatchObject({ rule: 'malformed' })
    const wide = await workbookOf({ S: [['a'], [...Array.from({ length: 2000 }, () => undefined), 'x']] })
    await expect(xlsx(wide)).rejects.toMatchObject({ rule: 'too_large' })
  })
})

describe('Parquet', () => {
  const parquet = async (content: Uint8Array) =>
    readAll(await files.write('t.parquet', content), { format: 'parquet' })
  const columns = (rows: number) => [
    { name: 'id', data: Array.from({ length: rows }, (_, i) => `p-${i}`), type: 'STRING' as const },
    { name: 'price', data: Array.from({ length: rows }, (_, i) => i / 4), type: 'DOUBLE' as const },
    {
      name: 'big',
      data: Array.from({ length: rows }, (_, i) => BigInt(i) + 9_007_199_254_740_990n),
      type: 'INT64' as const,
    },
    {
      name: 'at',
      data: Array.from({ length: rows }, (_, i) => new Date(i * 1000)),
      type: 'TIMESTAMP' as const,
    },
    {
      name: 'tags',
      data: Array.from({ length: rows }, (_, i) => (i % 2 ? { a: i } : null)),
      type: 'JSON' as const,
    },
  ]

  test('rows of several groups as JSON values, in order', async () => {
    const { rows } = await parquet(
      Buffer.from(parquetWriteBuffer({ columnData: columns(2500), rowGroupSize: 1000 })),
    )
    expect(rows).toHaveLength(2500)
    expect(rows[1]).toEqual({
      id: 'p-1',
      price: 0.25,
      big: 9_007_199_254_740_991,
      at: '1970-01-01T00:00:01.000Z',
      tags: { a: 1 },
    })
    expect(rows[2]).toMatchObject({ big: '9007199254740992', tags: null })
    expect(rows.map(({ id }) => id)).toEqual(columns(2500)[0]?.data)
  })

  test('files that are cut, encrypted or claim too much are refused (D06)', async () => {
    const whole = Buffer.from(parquetWriteBuffer({ columnData: columns(100) }))
    await expect(parquet(whole.subarray(0, -20))).rejects.toMatchObject({ rule: 'malformed' })
    await expect(parquet(Buffer.from('PAR1'))).rejects.toMatchObject({ rule: 'malformed' })
    const long = Buffer.from(whole)
    long.writeUInt32LE(0x7fffffff, long.length - 8)
    await expect(parquet(long)).rejects.toMatchObject({ rule: 'too_large' })
  })

  test('a file with any wrong byte is read, refused or ended after its time, in a thread of its own', async () => {
    const whole = Buffer.from(parquetWriteBuffer({ columnData: columns(100) }))
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: whole.length - 1 }),
        fc.integer({ min: 0, max: 255 }),
        async (at, byte) => {
          const broken = Buffer.from(whole)
          broken[at] = byte
          const path = await files.write('broken.parquet', broken)
          const sink = { row: () => {}, fault: () => {} }
          const slices = openParquet({ path }, sink, sourceLimits, { milliseconds: 3000 })
          try {
            for await (const _ of slices);
          } catch (error) {
            expect(error).toBeInstanceOf(SourceFault)
          }
        },
      ),
      { numRuns: times(50, 12) },
    )
  })

  test('a stream cannot be read by position', async () => {
    await expect(readAll(Buffer.from('PAR1'), { format: 'parquet' })).rejects.toMatchObject({
      rule: 'unsupported',
    })
  })
})

describe('Compression', () => {
  const text = 'a,b\n1,é\n'
  const expected = [{ a: '1', b: 'é' }]

  test('gzip, also of several parts, and zip with the file that is named, else the largest of a known format', async () => {
    const twice = Buffer.concat([gzipSync('a,b\n'), gzipSync('1,é\n')])
    expect((await readAll(twice, { format: 'csv', compression: 'gzip' }, { pieceBytes: 5 })).rows).toEqual(
      expected,
    )
    const archive = await zipOf({
      'notes.rst': 'x'.repeat(100),
      '__MACOSX/big.csv': 'y'.repeat(99),
      'd/a.csv': text,
      'b.csv': 'c\n1\n',
    })
    const path = await files.write('a.zip', archive)
    const zip = { format: 'csv', compression: 'zip' } as const
    expect((await readAll(path, zip)).rows).toEqual(expected)
    expect((await readAll(path, { ...zip, entry: 'b.csv' })).rows).toEqual([{ c: '1' }])
    await expect(readAll(path, { ...zip, entry: 'none.csv' })).rejects.toThrow(
      'The archive has no file none.csv',
    )
  })

  test('bombs are refused before they are inflated as a whole, by their ratio and by their size (D06)', async () => {
    const csv = `a\n${`${'0'.repeat(1000)}\n`.repeat(11_000)}`
    const bomb = gzipSync(csv)
    await expect(readAll(bomb, { format: 'csv', compression: 'gzip' })).rejects.toMatchObject({
      rule: 'inflation',
      message:
        'The compressed content becomes more than 100 times as large, beyond 10 MB: send it without compression',
    })
    const path = await files.write('bomb.zip', await zipOf({ 'a.csv': csv }))
    await expect(readAll(path, { format: 'csv', compression: 'zip' })).rejects.toMatchObject({
      rule: 'inflation',
    })
    await expect(
      readAll(Buffer.from(csv), { format: 'csv' }, { limits: { contentBytes: 1024 * 1024 } }),
    ).rejects.toMatchObject({ rule: 'too_large', message: 'More than 1 MB of content: split the file' })
  })

  test('an archive with any wrong byte is read or refused', async () => {
    const whole = await zipOf({
      'a.csv': Array.from({ length: 200 }, (_, id) => `${id},${id * 7919}\n`).join(''),
    })
    const refusals = new Set<string>()
    for (let at = 0; at < whole.length; at += long ? 1 : 9) {
      const broken = Buffer.from(whole)
      broken[at] = (broken[at] as number) ^ 0x5a
      const read = readAll(await files.write('broken.zip', broken), { format: 'csv', compression: 'zip' })
      await read.catch((error: unknown) => {
        expect(error).toBeInstanceOf(SourceFault)
        refusals.add((error as SourceFault).rule)
      })
    }
    expect(refusals).toContain('malformed')
  })

  test('what is cut or not compressed is refused', async () => {
    const whole = gzipSync('a\n'.repeat(1000))
    for (const bytes of [whole.subarray(0, -10), Buffer.from('a,b\n1,2\n')]) {
      await expect(readAll(bytes, { format: 'csv', compression: 'gzip' })).rejects.toMatchObject({
        rule: 'malformed',
      })
    }
  })
})

test('reading ends its stream where it is left or fails, and an aborted one stops', async () => {
  const lines = Buffer.from(`a\n${'1\n'.repeat(1_000_000)}`)
  const left = streamOf(lines, 1 << 16)
  for await (const batch of openRows({ stream: left }, { format: 'csv' })) {
    expect(batch).toHaveLength(1000)
    break
  }
  expect(left.destroyed).toBe(true)
  const failing = streamOf(gzipSync('{}').subarray(0, 10), 4)
  await expect(
    openRows({ stream: failing }, { format: 'json', compression: 'gzip' }).next(),
  ).rejects.toThrow()
  expect(failing.destroyed).toBe(true)
  const abort = new AbortController()
  abort.abort(new Error('left'))
  await expect(readAll(Buffer.from('a\n1\n'), { format: 'csv' }, { signal: abort.signal })).rejects.toThrow(
    'left',
  )
})

test('a file that is not there is no fault of its content, whose message users see', async () => {
  const compressions = [{}, { compression: 'gzip' }, { compression: 'zip' }] as const
  for (const options of compressions) {
    const error = await readAll('/nowhere/a.csv', { format: 'csv', ...options }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).not.toBeInstanceOf(SourceFault)
  }
  for (const format of ['xlsx', 'parquet'] as const) {
    const error = await readAll('/nowhere/a', { format }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(SourceFault)
  }
})
