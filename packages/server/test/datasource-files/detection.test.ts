import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { detectSource } from '../../src/features/datasources/formats/detect-source.ts'
import { detectEncoding } from '../../src/features/datasources/formats/encoding.ts'
import { readAll, utf16be, workbookOf, zipOf } from '../support/source-files.ts'

test.each([
  ['a;b\n1;2\n', undefined, undefined, { format: 'csv', csvDelimiter: ';' }],
  ['just one column\nx\n', 'a.txt', undefined, { format: 'csv', csvDelimiter: ',' }],
  ['a\tb\n1\t2\n', 'a.tsv', undefined, { format: 'csv', csvDelimiter: '\t' }],
  ['[{"a":1}]', undefined, undefined, { format: 'json', rootPath: '*' }],
  ['{"a":1}\n{"a":2}\n', undefined, undefined, { format: 'ndjson' }],
  ['{"a":1}', 'one.jsonl', undefined, { format: 'ndjson' }],
  ['{"a":1}', undefined, 'application/x-ndjson', { format: 'ndjson' }],
  ['{\n "p": [{"a":1}]\n}', 'feed', 'text/plain', { format: 'json', rootPath: 'p.*' }],
  ['\n <r><p a="1"/><p a="2"/></r>', 'feed.txt', undefined, { format: 'xml', rootPath: 'r.p' }],
  ['PAR1....', 'x.csv', undefined, { format: 'parquet' }],
])('%j is read as its content says (%s, %s)', (text, name, type, expected) => {
  expect(detectSource(Buffer.from(text), name, type)).toEqual(expected)
})

test('compressed content is looked into; a workbook is no archive', async () => {
  expect(detectSource(gzipSync('{"a":1}\n{"a":2}\n'), 'a.gz')).toEqual({
    format: 'ndjson',
    compression: 'gzip',
  })
  expect(detectSource(await zipOf({ 'a.csv': 'a|b\n1|2\n' }))).toEqual({
    format: 'csv',
    csvDelimiter: '|',
    compression: 'zip',
  })
  expect(detectSource(await workbookOf({ S: [['a']] }))).toEqual({ format: 'xlsx' })
})

test.each([
  ['%PDF-1.7', 'a PDF document'],
  ['\x89PNG\r\n', 'a picture'],
  ['\xd0\xcf\x11\xe0', '.xls'],
  ['<!DOCTYPE html><html>', 'a web page'],
  ['a\0\0\0\x01\x02\x03\x04', 'no text'],
])('%j is refused by what it is', (start, named) => {
  expect(() => detectSource(Buffer.from(start, 'latin1'))).toThrow(named)
})

describe('encodings', () => {
  const text = 'name,preis\nMüller,5 €\nÉtienne,“7”\n'
  const rows = [
    { name: 'Müller', preis: '5 €' },
    { name: 'Étienne', preis: '“7”' },
  ]
  const windows1252 = Buffer.from(
    text.replace('€', '\x80').replace('“', '\x93').replace('”', '\x94'),
    'latin1',
  )

  test.each([
    ['utf-8', Buffer.from(text)],
    ['utf-8', Buffer.from(`\ufeff${text}`)],
    ['utf-16le', Buffer.from(text, 'utf16le')],
    ['utf-16le', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['utf-16be', utf16be(text)],
    ['utf-16be', utf16be(`\ufeff${text}`)],
    ['windows-1252', windows1252],
  ])('%s is detected and read (D07)', async (encoding, bytes) => {
    expect(detectEncoding(bytes)).toBe(encoding)
    for (const pieceBytes of [1, 7, 1 << 16]) {
      expect((await readAll(bytes, { format: 'csv' }, { pieceBytes })).rows).toEqual(rows)
    }
  })

  test('an XML declaration and a media type name the encoding', async () => {
    const xml = Buffer.from(
      '<?xml version="1.0" encoding="windows-1251"?><r><p><a>\xcf\xf0</a></p><p/></r>',
      'latin1',
    )
    expect((await readAll(xml, { format: 'xml' })).rows[0]).toEqual({ a: 'Пр' })
    expect(detectSource(Buffer.from('a,b\n1,2\n'), undefined, 'text/csv; charset=Shift_JIS').encoding).toBe(
      'shift_jis',
    )
    expect(() => detectSource(Buffer.from('a\n'), undefined, 'text/csv; charset=utf-7')).toThrow(
      'The encoding utf-7 is not read',
    )
  })

  test('a file that is ASCII for long turns out to be windows-1252 at its first other byte', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`a\n${'x\n'.repeat(300_000)}`),
      Buffer.from('caf\xe9\n\x80\n', 'latin1'),
    ])
    const read = await readAll(bytes, { format: 'csv' }, { pieceBytes: 1000 })
    expect(read.rows.slice(-2)).toEqual([{ a: 'café' }, { a: '€' }])
    expect(read.faults).toEqual([])
  })

  test('half a pair of UTF-16 and a byte too many leave their entry out; a replacement character of the file does not', async () => {
    const text = Buffer.from('a\n\ufffd\n\ud83d\ude00\nx', 'utf16le')
    const half = Buffer.concat([text, Buffer.from('\n\ud83d\ny\n', 'utf16le')])
    const options = { format: 'csv', encoding: 'utf-16le' } as const
    for (const pieceBytes of [1, 3, 1 << 16]) {
      const whole = await readAll(text, options, { pieceBytes })
      expect(whole).toEqual({ rows: [{ a: '\ufffd' }, { a: '\ud83d\ude00' }, { a: 'x' }], faults: [] })
      expect((await readAll(half, options, { pieceBytes })).faults.at(-1)).toMatchObject({ entry: 4 })
      const odd = Buffer.concat([text, Buffer.from([0x41])])
      expect((await readAll(odd, options, { pieceBytes })).faults.at(-1)).toMatchObject({ entry: 3 })
    }
  })

  test('bytes that are no UTF-8 in a file that is leave their entry out', async () => {
    const bytes = Buffer.concat([Buffer.from('a\né\nx'), Buffer.from([0xff]), Buffer.from('\ny\n')])
    for (const pieceBytes of [1, 1 << 16]) {
      const { rows: read, faults } = await readAll(bytes, { format: 'csv' }, { pieceBytes })
      expect(read).toEqual([{ a: 'é' }, { a: 'y' }])
      expect(faults).toMatchObject([{ entry: 2, message: expect.stringContaining('bytes that are no text') }])
    }
  })
})
