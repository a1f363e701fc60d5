import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KeptEvent, validateEvent } from '@millrace/contract/events/validate.ts'
import { Session } from 'chdb'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lineKeys, rowColumns } from '../../../../database/event-columns.ts'
import { countryText, eventHead, eventRow, fixedLabelsText, lineOf, logRow, senderText } from './event-row.ts'

const origin = {
  companyId: '65f0c0ffee5ca1ab1e0ddba1',
  datasourceId: '65f0c0ffee5ca1ab1e0ddba2',
  receivedAt: Date.UTC(2026, 0, 15, 12),
}
const firstSequence = 1_768_478_400_000_000

/** Of a line of the log, as staging has it. */
const structure = lineKeys.map((key) => `${key} ${rowColumns[key].type}`).join(', ')

let directory: string
let session: Session

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-rows-'))
  session = new Session(directory)
})
afterAll(() => {
  session.close()
  rmSync(directory, { recursive: true, force: true })
})

/** The rows as the columnar engine reads them. */
async function read(rows: readonly string[]): Promise<Record<string, unknown>[]> {
  const lines = rows.map((row, i) => lineOf(firstSequence + i, row)).join('')
  const sql = `select * replace (toString(q) as q) from format(JSONEachRow, '${structure}', {lines: String})`
  const result = await session.queryBindAsync(sql, { lines }, { format: 'JSONEachRow' })
  const text = result.text().trimEnd()
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** Any code unit, halves of surrogate pairs and NUL included. */
const unit = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code))

/** Any event that is kept, with texts of every kind in every place. */
const keptEvent = fc
  .record({
    name: fc.string({ unit, minLength: 1 }),
    url: fc.string({ unit, maxLength: 300 }),
    referrer: fc.option(fc.oneof(fc.webUrl(), fc.string({ unit }))),
    tmpId: fc.string({ unit, minLength: 1 }),
    clientId: fc.option(fc.string({ unit })),
    eventId: fc.oneof(fc.uuid(), fc.string({ unit, minLength: 1 })),
    timestamp: fc.oneof(fc.constant(undefined), fc.double(), fc.integer({ min: 0, max: 4e12 })),
    data: fc.record(
      {
        ids: fc.array(fc.string({ unit, minLength: 1 }), { minLength: 1 }),
        value: fc.oneof(fc.double(), fc.integer(), fc.string()),
        transId: fc.string({ unit }),
        label: fc.jsonValue(),
        'a"b\\c\n': fc.string({ unit }),
        'd.é😀': fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map((fields) => validateEvent({ key: origin.companyId, v: 1, ...fields }, origin))
  .filter((result): result is KeptEvent => result.kept)

test('an event of any texts is read by the columnar engine as it was kept', async () => {
  const sender = { deviceType: 'mobile', os: 'iOS', browser: 'Safari "x"' }
  const head = eventHead(origin, senderText(sender) + countryText('FR'))
  await fc.assert(
    fc.asyncProperty(fc.array(keptEvent, { minLength: 1, maxLength: 50 }), async (events) => {
      const found = await read(events.map((event) => eventRow(event, head)))
      expect(found).toHaveLength(events.length)
      for (const [i, event] of events.entries()) {
        expect(found[i]).toMatchObject({
          q: String(firstSequence + i),
          z: 'e',
          k: origin.companyId,
          d: origin.datasourceId,
          t: event.time,
          r: origin.receivedAt,
          e: event.eventId,
          n: event.name,
          u: event.url,
          rh: event.referrerHost,
          p: event.tmpId,
          c: event.clientId,
          i: event.ids,
          v: event.value ?? '',
          x: event.transId,
          l: Object.fromEntries(event.labels),
          dt: 'mobile',
          os: 'iOS',
          br: 'Safari "x"',
          co: 'FR',
          g: event.changes.length > 0 ? 1 : 0,
        })
      }
    }),
    { numRuns: 60 },
  )
})

test('a row of the datasource log is read as it was noted', async () => {
  const text = fc.string({ unit }).map((each) => each.toWellFormed())
  await fc.assert(
    fc.asyncProperty(text, text, fc.nat(), async (path, sample, count) => {
      const [found] = await read([
        logRow({ kind: 'changed', rule: 'text-not-clean', path, sample, count }, origin),
      ])
      expect(found).toMatchObject({
        z: 'changed',
        rule: 'text-not-clean',
        path,
        sample,
        m: count,
        k: origin.companyId,
      })
    }),
    { numRuns: 50 },
  )
})

test('events and notes write every key of a line', () => {
  const sender = senderText({ deviceType: 'mobile', os: 'iOS', browser: 'Safari' }) + countryText('FR')
  const sent = {
    key: origin.companyId,
    v: 1,
    name: 'purchase',
    url: '',
    referrer: 'https://example.org/',
    tmpId: 'device-1',
    clientId: 'ada',
    eventId: 7,
    data: { ids: 'A1', value: 1, transId: 'T-1', store: 'north' },
  }
  const event = validateEvent(sent, origin)
  const note = { kind: 'dropped', rule: 'line-unparseable', path: '', sample: '', count: 1 } as const
  const rows = [eventRow(event as KeptEvent, eventHead(origin, sender)), logRow(note, origin)]
  const keys = rows.flatMap((row) => Object.keys(JSON.parse(lineOf(1, row)) as object))
  expect([...new Set(keys)].sort()).toEqual([...lineKeys].sort())
})

test('a sender of whom nothing is known adds nothing to a row', () => {
  expect(senderText({ deviceType: '', os: '', browser: '' }) + countryText('')).toBe('')
})

test('fixed labels stand with those of the event, read by the same rules', () => {
  const fixed = { branchId: 'b"1', zone: 0, tags: ['a'], absent: undefined, broken: 'x\0' }
  const event = { key: origin.companyId, name: 'n', url: '', tmpId: 't', eventId: 'e', v: 1 }
  const rowOf = (data: object, text?: string) =>
    JSON.parse(
      lineOf(
        1,
        eventRow(validateEvent({ ...event, data }, origin) as KeptEvent, eventHead(origin, ''), text),
      ),
    ) as { l?: unknown }
  const together = rowOf({ ...fixed, city: 'Lyon' }).l
  expect(together).toEqual({ branchId: 'b"1', zone: '0', tags: '["a"]', broken: 'x\ufffd', city: 'Lyon' })
  expect(rowOf({ city: 'Lyon' }, fixedLabelsText(fixed)).l).toEqual(together)
  expect(rowOf({}, fixedLabelsText(fixed)).l).toEqual(rowOf(fixed).l)
  expect(fixedLabelsText({})).toBe('')
  expect(rowOf({}, fixedLabelsText({})).l).toBeUndefined()
})
