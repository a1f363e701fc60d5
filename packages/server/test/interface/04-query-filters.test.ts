import type { Query } from '@millrace/contract/resources/query.ts'
import { describe, expect, it } from 'vitest'
import { isFull } from '../support/long.ts'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery as whole } from '../support/statistics-interface.ts'

const long = isFull(import.meta.filename)

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const counted = whole({ measures: ['events.count'] })

describe('groups of filters', () => {
  const equals = (member: string, ...values: string[]) => ({ member, operator: 'equals' as const, values })
  const namesFor = async (...filters: Query['filters']) =>
    (await app.rows({ dimensions: ['events.name'], filters })).map((row) => row['events.name'])

  it('join by or and by and, within each other', async () => {
    await engine.load([
      storedEvent({ name: 'a', labels: { x: '1', y: '1' } }),
      storedEvent({ name: 'b', labels: { x: '1', y: '2' } }),
      storedEvent({ name: 'c', labels: { x: '2', y: '1' } }),
      storedEvent({ name: 'd', labels: {} }),
    ])
    const [x, y] = [equals('events.label.x', '1'), equals('events.label.y', '1')]
    expect(await namesFor({ or: [x, y] })).toEqual(['a', 'b', 'c'])
    expect(await namesFor({ and: [x, y] })).toEqual(['a'])
    expect(await namesFor({ or: [{ and: [x, y] }, equals('events.name', 'd', 'e')] })).toEqual(['a', 'd'])
    expect(await namesFor({ or: [x, y] }, { or: [equals('events.name', 'c', 'd')] })).toEqual(['c'])
  })

  it('leave other persons in when one of them is a way among others', async () => {
    await engine.load([
      storedEvent({ tmpId: 'p', name: 'of p' }),
      storedEvent({ tmpId: 'q', name: 'wanted' }),
      storedEvent({ tmpId: 'q', name: 'unwanted' }),
      storedEvent({ tmpId: 'r', clientId: 'p', name: 'also of p' }),
    ])
    const [ofP, wanted] = [equals('events.person', 'p'), equals('events.name', 'wanted')]
    expect(await namesFor({ or: [ofP, wanted] })).toEqual(['also of p', 'of p', 'wanted'])
    expect(await namesFor({ or: [ofP] })).toEqual(['also of p', 'of p'])
    expect(await namesFor({ and: [ofP] })).toEqual(['also of p', 'of p'])
  })

  it('keep the items that pass, and rows that pass without any', async () => {
    await engine.load([
      storedEvent({ name: 'a', ids: ['1', '2'] }),
      storedEvent({ name: 'b', ids: ['2', '3'] }),
      storedEvent({ name: 'c', ids: [] }),
    ])
    const counted = async (...filters: Query['filters']) =>
      (await app.rows({ measures: ['events.count', 'events.items'], filters })).map(Object.values)
    const [one, b] = [equals('events.item', '1'), equals('events.name', 'b')]
    expect(await counted({ or: [one, equals('events.item', '3')] })).toEqual([[2, 2]])
    expect(await counted({ or: [one, b] })).toEqual([[2, 3]])
    expect(await counted({ or: [one, b] }, equals('events.item', '2'))).toEqual([[1, 1]])
    expect(await counted({ or: [one, equals('events.name', 'c')] })).toEqual([[2, 1]])
    expect(await counted({ member: 'events.item', operator: 'notSet' })).toEqual([[1, 0]])
    expect(await counted({ or: [one, { member: 'events.item', operator: 'notSet' }] })).toEqual([[2, 1]])
    expect(await counted({ member: 'events.item', operator: 'set' })).toEqual([[2, 4]])
  })

  it('of measures filter groups of rows, of times say what counts', async () => {
    await engine.load([
      ...Array.from({ length: 3 }, () => storedEvent({ name: 'three', at: '2026-03-01T12:00:00Z' })),
      ...Array.from({ length: 2 }, () => storedEvent({ name: 'two', at: '2026-03-03T12:00:00Z' })),
      storedEvent({ name: 'one', at: '2026-03-05T12:00:00Z' }),
    ])
    const count = (operator: 'gt' | 'lt', value: string) => ({
      member: 'events.count',
      operator,
      values: [value],
    })
    const day = (date: string) => equals('events.time', date)
    expect(await namesFor({ or: [count('gt', '2'), count('lt', '2')] })).toEqual(['one', 'three'])
    expect(
      await namesFor({ or: [day('2026-03-01'), { and: [day('2026-03-05'), day('2026-03-05')] }] }),
    ).toEqual(['one', 'three'])
    // An and may join all kinds.
    const mixed = { and: [count('gt', '1'), day('2026-03-03'), equals('events.name', 'two', 'three')] }
    expect(await namesFor(mixed)).toEqual(['two'])
  })

  it.each([
    ['measures', { member: 'events.count', operator: 'gt', values: ['1'] }],
    ['times', { member: 'events.time', operator: 'equals', values: ['2026-03-01'] }],
  ])('join no dimensions and %s by or', async (_, other) => {
    const filters = [{ or: [{ and: [equals('events.name', 'a')] }, other] }]
    const { status, body } = await app.post({ ...counted, filters })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 9103 })
    expect(body.message).toContain(
      `filters.0: an or joins filters of one kind, and here are several (events.name, ${other.member})`,
    )
  })

  it('are few: 100 filters in all of them, and one join each', async () => {
    const many = (count: number) => ({ or: Array.from({ length: count }, () => equals('events.name', 'a')) })
    expect((await app.post({ ...counted, filters: [many(50), many(50)] })).status).toBe(200)
    const { status, body } = await app.post({ ...counted, filters: [many(50), many(50), many(1)] })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 9103 })
    expect(body.message).toContain('101 filters are more than the 100')
    const both = { ...many(1), and: many(1).or }
    expect((await app.post({ ...counted, filters: [both] })).body.message).toContain(
      'filters.0: a group has and, or it has or',
    )
  })

  it('name the places of their faults', async () => {
    const filters = [{ or: [equals('events.name', 'a'), { and: [equals('events.nmae', 'a')] }] }]
    expect((await app.post({ ...counted, filters })).body.message).toContain(
      'filters.0.or.1.and.0.member: there is no member "events.nmae"; did you mean events.name?',
    )
    await engine.load([storedEvent({ labels: { store: 'Paris' } })])
    const { body } = await app.post({ ...counted, filters: [{ or: [equals('events.label.stroe', 'a')] }] })
    expect(body.warnings).toMatchObject([{ path: 'filters.0.or.0' }])
  })
})

describe('set and notSet', () => {
  it('ask for a value, of any text', async () => {
    await engine.load([
      storedEvent({ labels: { x: '' } }),
      storedEvent({ labels: {} }),
      storedEvent({ labels: {} }),
    ])
    const count = async (operator: 'set' | 'notSet', member: string) =>
      (await app.rows({ measures: ['events.count'], filters: [{ member, operator }] }))[0]?.['events.count']
    expect([await count('set', 'events.label.x'), await count('notSet', 'events.label.x')]).toEqual([1, 2])
    expect([await count('set', 'events.name'), await count('notSet', 'events.name')]).toEqual([3, 0])
    expect([await count('set', 'events.isIdentified'), await count('notSet', 'events.isIdentified')]).toEqual(
      [3, 0],
    )
  })

  it.each([
    [
      { member: 'events.name', operator: 'set', values: ['a'] },
      'set on events.name asks whether there is a value',
    ],
    [{ member: 'events.name', operator: 'equals' }, 'equals on events.name needs at least one value'],
    [{ member: 'events.time', operator: 'set' }, 'set does not apply to events.time'],
    [{ member: 'events.count', operator: 'notSet' }, 'notSet does not apply to events.count'],
  ])('and values exclude each other: %j', async (filter, reason) => {
    const { status, body } = await app.post({ ...counted, filters: [filter] })
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: 9103 })
    expect(body.message).toContain(reason)
    expect(body.data).toMatchObject({ members: [filter.member] })
  })
})

describe('filters', () => {
  it('let absent values pass negations alone', async () => {
    await engine.load([
      storedEvent({ labels: { store: 'Paris' } }),
      storedEvent({ labels: { store: '' } }),
      storedEvent({ labels: {} }),
    ])
    const stores = async (operator: 'equals' | 'notEquals' | 'contains' | 'notStartsWith', value: string) =>
      (
        await app.rows({
          dimensions: ['events.label.store'],
          filters: [{ member: 'events.label.store', operator, values: [value] }],
        })
      ).map((row) => row['events.label.store'])
    expect(await stores('equals', '')).toEqual([''])
    expect(await stores('notEquals', 'Paris')).toEqual(['', null])
    expect(await stores('contains', '')).toEqual(['', 'Paris'])
    expect(await stores('notStartsWith', 'P')).toEqual(['', null])
  })

  it('compare labels as numbers with a number, else as texts', async () => {
    await engine.load(['9', '10', '1e2', 'XL', ''].map((size) => storedEvent({ labels: { size } })))
    const sizes = async (operator: 'gt' | 'lte', value: string) =>
      (
        await app.rows({
          dimensions: ['events.label.size'],
          filters: [{ member: 'events.label.size', operator, values: [value] }],
        })
      ).map((row) => row['events.label.size'])
    expect(await sizes('gt', '9.5')).toEqual(['10', '1e2'])
    expect(await sizes('lte', '10')).toEqual(['10', '9'])
    expect(await sizes('gt', 'X')).toEqual(['XL'])
  })

  it('take no text for a number that is none in decimal', async () => {
    const sizes = ['5', '-5', '5e0', 'inf', '+Infinity', '-inf', 'nan', '1e999', '0x10', '5,5', ' ']
    await engine.load(sizes.map((size) => storedEvent({ labels: { size } })))
    for (const [operator, value, found] of [
      ['gt', '4', ['5', '5e0']],
      ['gte', ' 5.0 ', ['5', '5e0']],
      ['lt', '4', ['-5']],
      ['lte', '1e3', ['-5', '5', '5e0']],
    ] as const) {
      const rows = await app.rows({
        dimensions: ['events.label.size'],
        filters: [{ member: 'events.label.size', operator, values: [value] }],
      })
      expect(rows.map((row) => row['events.label.size'])).toEqual(found)
    }
  })

  it.each(['inf', '-Infinity', 'NaN', '1e999', '0x10'])('refuse to compare with %s', async (value) => {
    for (const member of ['events.label.size', 'events.name', 'events.count']) {
      const filters = [{ member, operator: 'gt', values: ['4', value] }]
      const { status, body } = await app.post({ ...counted, filters })
      expect({ member, status, code: body.error_code }).toEqual({ member, status: 400, code: 9103 })
      expect(body.message).toContain(`filters.0.values.1: ${JSON.stringify(value)} is not a decimal number`)
    }
    // Any text can be equal to another.
    await engine.load([storedEvent({ name: value })])
    const equal = { member: 'events.name', operator: 'equals' as const, values: [value] }
    expect(await app.rows({ measures: ['events.count'], filters: [equal] })).toEqual([{ 'events.count': 1 }])
  })

  it('ignore the case of letters in parts of texts, and heed it in whole ones', async () => {
    const stored = ['Straße', 'ÉTÉ', 'e\u0301te\u0301', 'İzmir', 'ΟΔΟΣ', 'οδος', 'ДОМ', '%_']
    await engine.load(stored.map((name) => storedEvent({ name, labels: { name }, ids: [name] })))
    const found = async (
      member: string,
      operator: 'contains' | 'startsWith' | 'endsWith',
      values: string[],
    ) =>
      (await app.rows({ dimensions: [member], filters: [{ member, operator, values }] })).map(
        (row) => row[member],
      )
    for (const member of ['events.name', 'events.label.name', 'events.item']) {
      expect(await found(member, 'contains', ['RASS'])).toEqual([])
      expect(await found(member, 'startsWith', ['sTRA'])).toEqual(['Straße'])
      expect(await found(member, 'endsWith', ['ẞE'])).toEqual(['Straße'])
      expect(await found(member, 'contains', ['été'])).toEqual(['ÉTÉ'])
      expect(await found(member, 'startsWith', ['izmir'])).toEqual([])
      expect(await found(member, 'startsWith', ['i\u0307Z'])).toEqual(['İzmir'])
      for (const operator of ['contains', 'startsWith', 'endsWith'] as const) {
        expect(await found(member, operator, ['Οδος'])).toEqual(['ΟΔΟΣ', 'οδος'])
        expect(await found(member, operator, ['ΟΔΟσ', 'дом', 'x'])).toEqual(['ΟΔΟΣ', 'οδος', 'ДОМ'])
      }
      expect(await found(member, 'contains', ['%'])).toEqual(['%_'])
      const others = await app.rows({
        dimensions: [member],
        filters: [{ member, operator: 'notContains', values: ['о', 'É', 'ο', 'E'] }],
      })
      expect(others.map((row) => row[member])).toEqual(['%_', 'İzmir'])
      const equal = [{ member, operator: 'equals' as const, values: ['straße', 'été'] }]
      expect(await app.rows({ dimensions: [member], filters: equal })).toEqual([])
    }
  })

  it('of many kinds on one dimension hold together', async () => {
    await engine.load(['a', 'b', 'c', 'd', 'e'].map((name) => storedEvent({ name, labels: { x: name } })))
    for (const member of ['events.name', 'events.label.x']) {
      const filters = ['a', 'b', 'c'].map((value) => ({
        member,
        operator: 'notEquals' as const,
        values: [value],
      }))
      expect(await app.rows({ measures: ['events.count'], filters })).toEqual([{ 'events.count': 2 }])
    }
    const several = ['1', '1.5', '2'].map((value) => ({
      member: 'events.count',
      operator: 'notEquals' as const,
      values: [value, '7'],
    }))
    expect(await app.rows({ measures: ['events.count'], filters: several })).toEqual([{ 'events.count': 5 }])
  })

  it('on measures filter groups, also on measures that are not shown', async () => {
    await engine.load([
      storedEvent({ tmpId: 'a' }),
      storedEvent({ tmpId: 'a', name: 'purchase', transId: 'T', value: '20' }),
      storedEvent({ tmpId: 'b' }),
    ])
    expect(
      await app.rows({
        measures: ['events.count'],
        dimensions: ['events.person'],
        filters: [{ member: 'purchases.revenue', operator: 'gte', values: ['20.00'] }],
      }),
    ).toEqual([{ 'events.person': 'a', 'events.count': 2 }])
  })

  it('give back any text that was stored, and find it', async () => {
    const texts = [
      "' or 1=1 --",
      "\\'",
      '%',
      '_',
      '\\',
      '\\N',
      'a\nb\tc\r',
      '😀',
      '{p1:String}',
      '\u202e',
      '�',
      ' ',
    ]
    await engine.load(texts.map((text) => storedEvent({ name: text, labels: { [text]: text }, ids: [text] })))
    const operators = ['equals', 'startsWith', 'endsWith'] as const
    for (const [i, text] of texts.entries()) {
      const label = `events.label.${text}`
      for (const [j, member] of ['events.name', 'events.item', label].entries()) {
        // In the short form each in turn.
        for (const operator of long ? operators : operators.slice((i + j) % 3).slice(0, 1)) {
          const rows = await app.rows({
            dimensions: [member],
            filters: [{ member, operator, values: [text] }],
          })
          expect(rows.map((row) => row[member])).toContain(text)
        }
      }
    }
  })

  it('take 1,000 values and 100,000 characters', async () => {
    await engine.load([storedEvent({ name: '値' }), storedEvent({ name: 'other' })])
    const filtered = (values: string[]) =>
      app.rows({
        measures: ['events.count'],
        filters: [{ member: 'events.name', operator: 'equals', values }],
      })
    const many = Array.from({ length: 999 }, (_, i) => `value ${i}`)
    expect(await filtered([...many, '値'])).toEqual([{ 'events.count': 1 }])
    const long = Array.from({ length: 25 }, (_, i) => String.fromCodePoint(0x4e00 + i).repeat(3_990))
    expect(await filtered([...long, '値'])).toEqual([{ 'events.count': 1 }])
  })

  it('cannot reach another company', async () => {
    await engine.load([storedEvent({ company: otherCompany, name: 'secret' }), storedEvent()])
    for (const values of [['secret'], [otherCompany], ["' OR company != '"]]) {
      for (const operator of ['equals', 'notEquals'] as const) {
        const rows = await app.rows({
          dimensions: ['events.name'],
          filters: [{ member: 'events.name', operator, values }],
        })
        expect(JSON.stringify(rows)).not.toContain('secret')
      }
    }
    app.caller.companyId = otherCompany
    expect(await app.rows({ measures: ['events.count', 'events.people'] })).toEqual([
      { 'events.count': 1, 'events.people': 1 },
    ])
  })
})
