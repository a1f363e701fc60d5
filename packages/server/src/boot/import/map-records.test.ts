import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { add, formatDecimal, multiply, parseDecimal } from './decimal.ts'
import { ImportFault } from './import-fault.ts'
import { type Envelope, type MappingCounts, mapRecords } from './map-records.ts'
import { type Mapping, readMapping } from './mapping.ts'
import { openInput } from './read-records.ts'

const key = '0123456789abcdef01234567'
const header = 'InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n'

async function mapped(text: string | Buffer, mapping: Mapping | undefined, format: 'csv' | 'ndjson' = 'csv') {
  const counts: MappingCounts = {
    records: 0,
    leftOut: 0,
    leftOutBy: new Map(),
    events: 0,
    expected: undefined,
  }
  const input = await openInput('-', { format, standardInput: Readable.from([Buffer.from(text)]) })
  const events: Envelope[] = []
  for await (const event of mapRecords(input.records(), { mapping }, key, counts)) events.push(event)
  return { events, counts }
}

test('decimal arithmetic is exact where binary numbers are not', () => {
  const read = (text: string) => parseDecimal(text) ?? { digits: -1n, scale: 0 }
  expect(formatDecimal(add(read('0.1'), read('0.2')))).toBe('0.3')
  expect(formatDecimal(multiply(read('3'), read('4.35')))).toBe('13.05')
  expect(formatDecimal(multiply(read('-1'), read('.05')))).toBe('-0.05')
  expect(parseDecimal('1e3')).toBeUndefined()
  expect(parseDecimal('.')).toBeUndefined()
})

test('lines of one invoice become one purchase, also where they do not stand together', async () => {
  const text = `${header}536365,A,x,6,2010-12-01 08:26:00,2.55,17850.0,United Kingdom
536366,B,x,1,2010-12-01 08:28:00,1.10,,France
536365,C,"a ""quoted"", one",2,2010-12-01 08:29:00,0.05,17850.0,United Kingdom
536365,A,x,1,2010-12-01 08:26:00,1.00,17850.0,United Kingdom
C536379,D,x,-1,2010-12-01 09:41:00,27.50,14527.0,United Kingdom
536367,E,x,5,2010-12-01 09:41:00,0.0,14527.0,United Kingdom
`
  const { events, counts } = await mapped(text, await readMapping('online-retail'))
  expect(counts).toMatchObject({ records: 6, leftOut: 2, events: 2, expected: 2 })
  expect(events).toEqual([
    {
      key,
      name: 'purchase',
      url: 'https://shop.example/invoices/536365',
      tmpId: '17850',
      clientId: '17850',
      eventId: 'or-536365',
      v: 1,
      timestamp: Date.UTC(2010, 11, 1, 8, 26),
      data: { ids: ['A', 'C'], value: '16.40', transId: '536365', country: 'United Kingdom' },
    },
    {
      key,
      name: 'purchase',
      url: 'https://shop.example/invoices/536366',
      tmpId: 'inv-536366',
      eventId: 'or-536366',
      v: 1,
      timestamp: Date.UTC(2010, 11, 1, 8, 28),
      data: { ids: ['B'], value: '1.10', transId: '536366', country: 'France' },
    },
  ])
})

test('reads NDJSON and gzip; an envelope without an id gets one that is the same the next time', async () => {
  const text =
    '{"name":"visit","url":"https://a.example/","tmpId":"t1","data":{}}\n\n{"name":"visit","url":"https://a.example/","tmpId":"t1","data":{}}\n'
  const first = await mapped(gzipSync(text), undefined, 'ndjson')
  const second = await mapped(text, undefined, 'ndjson')
  expect(first.events).toEqual(second.events)
  expect(first.events).toHaveLength(2)
  expect(first.events[0]?.eventId).not.toBe(first.events[1]?.eventId)
  expect(first.events[0]).toMatchObject({ key, v: 1 })
})

test.each([
  ['a column that is not there', `${header}1,A,x,6,2010-12-01,2.55,1\n`, /cannot be read as csv/],
  [
    'a number that is none',
    `${header}1,A,x,six,2010-12-01,2.55,1,UK\n`,
    /record 1: "six" in column "Quantity" is not a number/,
  ],
  [
    'a time that is none',
    `${header}1,A,x,6,1/12/2010,2.55,1,UK\n`,
    /"1\/12\/2010" in column "InvoiceDate" is no time/,
  ],
  ['another header', 'a,b\n1,2\n', /record 1 has no column "InvoiceNo"; it has a, b/],
])('says where the input has %s', async (_name, text, message) => {
  const mapping = await readMapping('online-retail')
  await expect(mapped(text, mapping)).rejects.toThrow(message)
  await expect(mapped(text, mapping)).rejects.toThrow(ImportFault)
})

test('says what is wrong with a mapping', async () => {
  await expect(readMapping('nothing-like-this')).rejects.toThrow(/a bare name means a shipped mapping/)
  await expect(readMapping('./package.json')).rejects.toThrow(/is not valid: /)
})
