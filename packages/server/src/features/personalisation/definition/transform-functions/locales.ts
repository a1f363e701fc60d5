import { IANAZone } from 'luxon'
import { remembered, WrongArgument } from './transform-function.ts'

/** `fr`, `fr_FR`, `fr-FR` or `zh-Hant-TW`. */
const localeForm = /^[a-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:[-_][A-Z]{2})?$/

/** Of all names for a locale the one that the runtime knows, so that caches stay small whatever visitors send. */
const resolveLocale = remembered((given: string): string => {
  const name = given.replaceAll('_', '-')
  if (!localeForm.test(given) || Intl.DateTimeFormat.supportedLocalesOf(name).length === 0)
    throw new WrongArgument(`"${given.slice(0, 40)}" is no locale; give one as fr_FR or en`)
  return new Intl.DateTimeFormat(name).resolvedOptions().locale
})

/** Longer names than any that there is need not be remembered. */
const nameOf = (given: unknown): string => String(given).slice(0, 80)

export const localeOf = (given: unknown): string =>
  resolveLocale(given === undefined ? 'en-US' : nameOf(given))

const resolveZone = remembered((given: string): string => {
  if (!/^[A-Za-z][\w+/-]{0,60}$/.test(given) || !IANAZone.isValidZone(given))
    throw new WrongArgument(`"${given.slice(0, 60)}" is no time zone; give one as Europe/Paris`)
  return given
})

export const zoneOf = (given: unknown): string => resolveZone(given === undefined ? 'UTC' : nameOf(given))
