import { describe, expect, it } from 'vitest'
import type { StatisticsApp } from '../support/statistics-app.ts'
import type { StatisticsEngine } from '../support/statistics-engine.ts'
import { otherCompany, storedEvent } from '../support/statistics-events.ts'
import { useStatistics, wholeQuery as whole } from '../support/statistics-interface.ts'

let engine: StatisticsEngine
let app: StatisticsApp
useStatistics((opened) => {
  engine = opened.engine
  app = opened.app
})

const counted = whole({ measures: ['events.count'] })

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

  it('on measures judge groups, also on measures that are not shown', async () => {
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
    for (const text of texts) {
      const label = `events.label.${text}`
      for (const member of ['events.name', 'events.item', label]) {
        for (const operator of ['equals', 'startsWith', 'endsWith'] as const) {
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
