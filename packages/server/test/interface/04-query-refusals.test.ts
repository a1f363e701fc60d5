import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { storedEvent } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery as whole } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const counted = whole({ measures: ['events.count'] })

describe('null', () => {
  it('in an optional field is as if it were absent', async () => {
    await engine.load([storedEvent({ at: '2020-01-01T00:00:00Z' }), storedEvent({ name: 'a' })])
    const { status, body } = await app.post({
      measures: ['events.count'],
      dimensions: [],
      filters: [{ member: null, dimension: 'events.name', operator: 'notEquals', values: ['a'] }],
      timeDimensions: [
        { dimension: 'events.time', granularity: null, dateRange: null, compareDateRange: null },
      ],
      limit: null,
      order: null,
    })
    expect({ status, data: body.data }).toEqual({ status: 200, data: '[{"events.count":1}]' })
  })
})

describe('what is refused', () => {
  const operators = 'equals, notEquals, contains'

  it.each([
    ['segments', { segments: [] }],
    ['renewQuery', { renewQuery: true }],
    ['ungrouped', { ungrouped: true }],
    ['responseFormat', { responseFormat: 'compact' }],
    // What it does not support comes before what is missing.
    ['segments', { segments: [], dimensions: undefined }],
  ])('is %s of the Cube format, with what is supported', async (name, parts) => {
    const { status, body } = await app.post({ ...counted, ...parts })
    expect({ status, code: body.error_code, message: body.message }).toEqual({
      status: 400,
      code: 1,
      message: `${name} is not supported here; supported are measures, dimensions, filters, timeDimensions, limit, offset, total, fill, timezone, order`,
    })
  })

  it.each([
    [
      'filters.0.and.0.or.0.and.0.or.0.and.0.or',
      { and: [{ or: [{ and: [{ or: [{ and: [{ or: [] }] }] }] }] }] },
      'is not supported here; supported are dimension, member, operator, values',
    ],
    ['filters.0.or', { or: [] }, 'must not be empty'],
    [
      'filters.0.or.0.and.1.operator',
      {
        or: [
          {
            and: [
              { member: 'events.name', operator: 'set' },
              { member: 'events.name', operator: 'sett' },
            ],
          },
        ],
      },
      'did you mean "set"?',
    ],
    [
      'filters.0.operator',
      { member: 'events.count', operator: 'measureFilter', values: [] },
      `"measureFilter" is not supported here; supported are ${operators}`,
    ],
    [
      'filters.0.operator',
      { member: 'events.name', operator: 'startWith', values: ['a'] },
      'did you mean "startsWith"?',
    ],
    [
      'filters.0.operator',
      { member: 'events.name', operator: 'EQUALS', values: ['a'] },
      'did you mean "equals"?',
    ],
  ])('at %s is %j, with the reason', async (path, filter, reason) => {
    const { status, body } = await app.post({ ...counted, filters: [filter] })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 1 })
    expect(body.message).toContain(path)
    expect(body.message).toContain(reason)
    expect(body.data).toMatchObject({ errors: [{ path }] })
  })

  it.each([
    [{ ...counted, meassures: [] }, 'did you mean "measures"?'],
    [
      { ...counted, timeDimensions: [{ dimension: 'events.time', granularity: 'dya' }] },
      'did you mean "day"?',
    ],
  ])('is a name that is near another: %j', async (query, hint) => {
    expect((await app.post(query)).body.message).toContain(hint)
  })

  it.each([
    ['an unknown member', { ...counted, measures: ['events.x'] }, '', 9100],
    ['a repeated measure', { ...counted, measures: ['events.count', 'events.count'] }, '', 9103],
    ['51 measures', { ...counted, measures: Array.from({ length: 51 }, (_, i) => `m${i}`) }, '', 1],
    ['a missing part', { measures: ['events.count'] }, '', 1],
    ['an unknown part', { ...counted, ofset: 5 }, '', 1],
    ['a negative offset', { ...counted, offset: -1 }, '', 1],
    ['an offset of 50,001', { ...counted, offset: 50_001 }, '', 1],
    ['half an offset', { ...counted, offset: 0.5 }, '', 1],
    ['a total as text', { ...counted, total: 'true' }, '', 1],
    ['a fill as number', { ...counted, fill: 1 }, '', 1],
    ['an unknown zone', { ...counted, timezone: 'Europe/Nope' }, '', 9103],
    ['an hour that no zone has', { ...counted, timezone: 'GMT+25' }, '', 9103],
    ['an offset as zone', { ...counted, timezone: '+05:00' }, '', 9103],
    ['a hostile zone', { ...counted, timezone: "'; drop" }, '', 9103],
    ['an empty zone', { ...counted, timezone: '' }, '', 1],
    ['a limit of 0', { ...counted, limit: 0 }, '', 1],
    ['a negative limit', { ...counted, limit: -1 }, '', 1],
    ['half a row', { ...counted, limit: 1.5 }, '', 1],
    ['50,001 rows', { ...counted, limit: 50_001 }, '', 1],
    ['a limit as text', { ...counted, limit: '10' }, '', 1],
    ['an unknown direction', { ...counted, order: { 'events.count': 'DESC' } }, '', 1],
    [
      'an unknown granularity',
      { ...counted, timeDimensions: [{ dimension: 'events.time', granularity: 'Day' }] },
      '',
      1,
    ],
    [
      'a range of five',
      {
        ...counted,
        timeDimensions: [
          { dimension: 'events.time', dateRange: [1, 2, 3, 4, 5].map((d) => `2026-01-0${d}`) },
        ],
      },
      '',
      1,
    ],
    [
      'no values',
      { ...counted, filters: [{ member: 'events.name', operator: 'equals', values: [] }] },
      '',
      9103,
    ],
    [
      '100,000 values',
      {
        ...counted,
        filters: [{ member: 'events.name', operator: 'equals', values: Array(100_000).fill('a') }],
      },
      '',
      1,
    ],
    [
      'a null byte',
      { ...counted, filters: [{ member: 'events.name', operator: 'equals', values: ['\0'] }] },
      '',
      1,
    ],
    ['another format', counted, '?format=xml', 1],
    ['an empty format', counted, '?format=', 1],
    ['a repeated format', counted, '?format=csv&format=csv', 1],
    ['an unknown parameter', counted, '?csv=1', 1],
    [
      'a second of ten years',
      {
        ...counted,
        timeDimensions: [
          { dimension: 'events.time', granularity: 'second', dateRange: ['2015-01-01', '2024-12-31'] },
        ],
      },
      '',
      19,
    ],
    ['members that do not fit', { ...counted, dimensions: ['purchases.item'] }, '', 9101],
    [
      'a filter on a virtual measure',
      { ...counted, filters: [{ member: 'events.perPerson', operator: 'gt', values: ['1'] }] },
      '',
      9102,
    ],
    [
      'a day that does not exist',
      { ...counted, timeDimensions: [{ dimension: 'events.time', dateRange: '2024-02-30' }] },
      '',
      9103,
    ],
    ['nothing asked', whole({}), '', 9103],
    ['an array', [], '', 1],
    ['null', null, '', 1],
  ])('is %s', async (_, query, search, errorCode) => {
    const { status, body } = await app.post(query, { search })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: errorCode })
  })

  it.each(['regex', 'EQUALS', '__proto__', 'toString', ''])('is the operator %j', async (operator) => {
    const filters = [{ member: 'events.name', operator, values: ['a'] }]
    expect((await app.post({ ...counted, filters })).body.error_code).toBe(1)
  })

  it('is a type that is not offered', async () => {
    expect((await app.post(counted, { accept: 'text/html' })).body.error_code).toBe(8)
  })
})
