/** First characters that make a spreadsheet read a text as a formula, in their full-width forms too. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

const toBeQuoted = /[",;\r\n\t]|^\s|\s$|^$/

/** A spreadsheet reads it as the number that it is. */
const wholeNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** A text of CSV: a formula is defused by an apostrophe (OWASP, CSV injection), the rest quoted by RFC 4180. */
export function csvText(text: string): string {
  const safe = formulaStart.test(text) && !wholeNumber.test(text) ? `'${text}` : text
  return toBeQuoted.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
