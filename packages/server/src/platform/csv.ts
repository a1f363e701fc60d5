/** First characters that make a spreadsheet read a text as a formula, in their full-width forms too. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

const toBeQuoted = /[",;\r\n\t]|^\s|\s$|^$/

/** A text of CSV: a formula is defused by an apostrophe (OWASP, CSV injection), the rest quoted by RFC 4180. */
export function csvText(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text
  return toBeQuoted.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
