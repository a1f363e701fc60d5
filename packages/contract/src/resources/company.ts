import type { Static } from 'typebox'
import { languages } from '../languages.ts'
import {
  bodyOf,
  currencyPattern,
  dateTime,
  filled,
  flag,
  id,
  integer,
  named,
  nameText,
  nullable,
  oneOf,
  optionals,
  text,
  times,
} from './formats.ts'

export const attributionModels = ['last-touch', 'linear', 'decay'] as const

/** Null is for ever. The shortest is the window in which an `eventId` that comes again is recognised. */
export const eventRetentionDays = (description: string) =>
  nullable(integer(7, 36_500, description), description)

/** A year: a longer window would credit interactions that no visitor remembers. */
const maxWindowHours = 8_760

export const windowHours = (description: string) => integer(1, maxWindowHours, description)

export const attributionModel = oneOf(
  attributionModels,
  'How a purchase is credited to what was seen and clicked before it',
)

/** Of money, without a currency of its own in what was collected. */
export const currency = nullable(
  text('Currency as ISO 4217 has it', 'EUR', { pattern: currencyPattern }),
  'Currency of amounts, in which screens show them; null where it was not said: amounts are plain numbers then',
)

const settings = {
  name: nameText('Name of the company', 100),
  timezone: filled('IANA name of the time zone in which days begin and end', 64, 'Europe/Paris'),
  language: oneOf(languages, 'Language of mails to users without one of their own'),
  currency,
  attributionModel,
  clickWindowHours: windowHours('How long after a click a purchase is credited to it'),
  displayWindowHours: windowHours('How long after a display a purchase is credited to it'),
  exactCounts: flag('Whether distinct counts are exact at any size'),
  auditRetentionDays: integer(30, 3650, 'Days that entries of the audit log are kept'),
  eventRetentionDays: eventRetentionDays(
    'Days that events are kept, unless their datasource says otherwise; null keeps them for ever',
  ),
  defaultRoleId: nullable(
    id('Role of new users without one of their own'),
    'Role of new users without one of their own; null is `viewer`',
  ),
  defaultTeamId: id('Team of users who are put into no other; there always is one'),
}

/** The caller's company with its settings. */
export const Company = named('Company', {
  id: id('Identifier of the company: the `key` of its events'),
  ...settings,
  ...times,
})
export type Company = Static<typeof Company>

/** A company that is closed: nothing of it works, and it can be opened again until it is removed. */
export const ClosedCompany = named('ClosedCompany', {
  id: id('Identifier of the company'),
  closedAt: dateTime('When it was closed'),
  removedAfter: dateTime('Until when an operator of the service can open it again'),
})
export type ClosedCompany = Static<typeof ClosedCompany>

const update = optionals(settings)

/** Partial: a field that is absent stays as it is. */
export const CompanyUpdate = bodyOf('CompanyUpdate', Company, update)
export type CompanyUpdate = Static<typeof CompanyUpdate>
