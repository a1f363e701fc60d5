import { describe, expect, it } from 'vitest'
import { hour, minute, openZone } from './zone.ts'

const at = (text: string) => Date.parse(text)

describe('a zone', () => {
  it('refuses names that are no zones', () => {
    for (const name of ['Europe/Nope', "'; drop", 'GMT+25', '', 'Europe/Paris\n']) {
      expect(() => openZone(name)).toThrow(RangeError)
    }
  })

  it('knows the offset on both sides of a change of the clock', () => {
    const paris = openZone('Europe/Paris')
    expect(paris.offsetAt(at('2024-03-31T00:59:59.999Z'))).toBe(hour)
    expect(paris.offsetAt(at('2024-03-31T01:00:00Z'))).toBe(2 * hour)
    expect(openZone('America/St_Johns').offsetAt(at('2010-03-14T03:30:59Z'))).toBe(-210 * minute)
    expect(openZone('America/St_Johns').offsetAt(at('2010-03-14T03:31:00Z'))).toBe(-150 * minute)
  })

  it('takes the first of two instants of one reading', () => {
    const paris = openZone('Europe/Paris')
    expect(paris.instantOf(at('2024-10-27T02:30:00Z'))).toBe(at('2024-10-27T00:30:00Z'))
    expect(paris.instantOf(at('2024-10-27T03:30:00Z'))).toBe(at('2024-10-27T02:30:00Z'))
  })

  it('moves a reading that does not exist on by the length of the gap', () => {
    const paris = openZone('Europe/Paris')
    expect(paris.instantOf(at('2024-03-31T02:30:00Z'))).toBe(at('2024-03-31T01:30:00Z'))
  })

  it('begins a day without a midnight at its first instant', () => {
    const saoPaulo = openZone('America/Sao_Paulo')
    const begin = saoPaulo.instantOf(at('2018-11-04T00:00:00Z'))
    expect(saoPaulo.format(begin)).toBe('2018-11-04T01:00:00.000-02:00')
    expect(saoPaulo.format(begin - 1)).toBe('2018-11-03T23:59:59.999-03:00')
  })

  it('finds its way over a day that was left out', () => {
    const apia = openZone('Pacific/Apia')
    expect(apia.format(apia.instantOf(at('2011-12-30T12:00:00Z')))).toBe('2011-12-31T12:00:00.000+14:00')
    expect(apia.format(apia.instantOf(at('2011-12-29T12:00:00Z')))).toBe('2011-12-29T12:00:00.000-10:00')
  })

  it('returns from every instant to itself, but for the hours that occur twice', () => {
    for (const name of ['UTC', 'Europe/Paris', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns']) {
      const zone = openZone(name)
      for (
        let instant = at('2024-01-01T00:07:00Z');
        instant < at('2025-01-01T00:00:00Z');
        instant += 37 * minute
      ) {
        const back = zone.instantOf(zone.localOf(instant))
        if (back !== instant) expect(zone.localOf(back)).toBe(zone.localOf(instant))
      }
    }
  })

  it('lists the changes of its offset between two instants, and neither of these', () => {
    const paris = openZone('Europe/Paris')
    const [spring, autumn] = [at('2026-03-29T01:00:00Z'), at('2026-10-25T01:00:00Z')]
    expect(paris.changesBetween(spring - 1, autumn + 1)).toEqual([
      { at: spring, offset: 2 * hour },
      { at: autumn, offset: hour },
    ])
    expect(paris.changesBetween(spring, autumn)).toEqual([])
    expect(openZone('Asia/Kathmandu').changesBetween(at('1987-01-01T00:00:00Z'), autumn)).toEqual([])
    // At the turn of a year of UTC, and with seconds.
    expect(openZone('Asia/Kathmandu').changesBetween(0, autumn)).toEqual([
      { at: at('1985-12-31T18:30:00Z'), offset: 5.75 * hour },
    ])
    expect(openZone('Africa/Monrovia').offsetAt(0)).toBe(-44.5 * minute)
    expect(openZone('Asia/Riyadh').changesBetween(0, autumn)).toEqual([])
    expect(openZone('Asia/Singapore').changesBetween(at('1981-06-01T00:00:00Z'), autumn)).toEqual([
      { at: at('1981-12-31T16:00:00Z'), offset: 8 * hour },
    ])
    expect(openZone('Africa/Juba').changesBetween(at('2019-06-01T00:00:00Z'), autumn)).toEqual([
      { at: at('2021-01-31T21:00:00Z'), offset: 2 * hour },
    ])
  })

  it('writes offsets of every sign and size', () => {
    expect(openZone('UTC').format(0)).toBe('1970-01-01T00:00:00.000+00:00')
    expect(openZone('Asia/Kathmandu').format(at('2024-01-01T00:00:00.007Z'))).toBe(
      '2024-01-01T05:45:00.007+05:45',
    )
    expect(openZone('America/St_Johns').format(at('2024-01-01T00:00:00Z'))).toBe(
      '2023-12-31T20:30:00.000-03:30',
    )
  })
})
