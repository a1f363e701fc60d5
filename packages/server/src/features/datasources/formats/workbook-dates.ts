/** What a cell that holds a serial number shows. */
export type SerialKind = 'date' | 'time'

/** What a number format shows of a date, if anything: by its number, or by its code where the workbook defines one. */
export function serialKindOf(id: number, code: string | undefined): SerialKind | undefined {
  if (code === undefined) {
    if ((id >= 14 && id <= 17) || id === 22 || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return 'date'
    return (id >= 18 && id <= 21) || (id >= 45 && id <= 47) ? 'time' : undefined
  }
  const symbols = code
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!(h+|m+|s+)\])[^\]]*\]/gi, '')
    .toLowerCase()
  if (/general|standard/.test(symbols)) return undefined
  if (/[yd]/.test(symbols) || /m{3,}/.test(symbols)) return 'date'
  if (/[hs]/.test(symbols)) return 'time'
  return /m/.test(symbols) ? 'date' : undefined
}

const dayMilliseconds = 86_400_000

/**
 * A serial number, days since the end of 1899 or the beginning of 1904, as `2025-12-31`, `2025-12-31T08:30:00.000Z`
 * or `08:30:00`. A number that no date has stays a number.
 */
export function formatSerial(serial: number, kind: SerialKind, startsIn1904: boolean): string | number {
  // 9999-12-31 is the last day.
  if (serial < 0 || serial >= 2_958_466) return serial
  if (kind === 'time' && serial < 1) {
    return new Date(Math.round(serial * 86_400) * 1000).toISOString().slice(11, 19)
  }
  // The 29th of February 1900, which never was, has number 60.
  const days = startsIn1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial
  const time = new Date(Date.UTC(1899, 11, 30) + Math.round((days * dayMilliseconds) / 1000) * 1000)
  return Number.isInteger(serial) ? time.toISOString().slice(0, 10) : time.toISOString()
}
