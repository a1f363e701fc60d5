import { createReadStream, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { createGunzip } from 'node:zlib'
import { parse } from 'csv-parse'
import { type StoredEvent, storedEvent } from './statistics-events.ts'

const directory = process.env.MILLRACE_TEST_DATA ?? resolve(import.meta.dirname, '../../../../../shared/data')
export const onlineRetailFile = resolve(directory, 'online-retail.csv.gz')

/** Why the real data cannot be used, or nothing when it is there. */
export const realDataAbsent = existsSync(onlineRetailFile)
  ? undefined
  : `the data set ${onlineRetailFile} is absent: name its directory in MILLRACE_TEST_DATA`

/** Files of a worker share what one of them has read: reading takes seconds. */
const read = new Map<string, Promise<readonly StoredEvent[]>>()

/** Every invoice of the data set as one event `purchase`: 19,960 of them, 10,666,684.54 of revenue. */
export function readOnlineRetail(company: string): Promise<readonly StoredEvent[]> {
  const events = read.get(company) ?? readInvoices(company, onlineRetailFile)
  read.set(company, events)
  return events
}

/** Every invoice of a file like the data set, or of a part of it. */
export async function readInvoices(company: string, file: string): Promise<readonly StoredEvent[]> {
  const rows = createReadStream(file)
    .pipe(createGunzip())
    .pipe(parse({ columns: true })) as AsyncIterable<Record<string, string>>
  const invoices = new Map<string, { first: Record<string, string>; ids: Set<string>; value: bigint }>()
  for await (const row of rows) {
    const { InvoiceNo = '', StockCode = '', Quantity = '', UnitPrice = '' } = row
    const price = thousandths(UnitPrice)
    if (InvoiceNo.startsWith('C') || Number(Quantity) <= 0 || price <= 0n) continue
    const invoice = invoices.get(InvoiceNo) ?? { first: row, ids: new Set(), value: 0n }
    invoice.ids.add(StockCode)
    invoice.value += BigInt(Quantity) * price
    invoices.set(InvoiceNo, invoice)
  }
  const events = [...invoices].map(([number, { first, ids, value }]) => {
    const customer = (first.CustomerID ?? '').replace(/\.0$/, '')
    return storedEvent({
      company,
      eventId: `or-${number}`,
      name: 'purchase',
      url: `https://shop.example/invoices/${number}`,
      tmpId: customer || `inv-${number}`,
      clientId: customer,
      transId: number,
      time: Date.parse(`${first.InvoiceDate?.replace(' ', 'T')}Z`),
      ids: [...ids],
      value: `${value / 1000n}.${String((value / 10n) % 100n).padStart(2, '0')}`,
      labels: { country: first.Country ?? '' },
      deviceType: 'server',
      os: '',
      browser: '',
    })
  })
  return Object.freeze(events)
}

function thousandths(decimal: string): bigint {
  const negative = decimal.startsWith('-')
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.')
  if (fraction.length > 3) throw new Error(`a price of more than three decimals: ${decimal}`)
  const value = BigInt(whole) * 1000n + BigInt(fraction.padEnd(3, '0'))
  return negative ? -value : value
}
