import { type Language, languageOfTag } from '../../../../../platform/i18n/language.ts'
import type { Parts } from '../schema/attribute-values.ts'
import type { UserDocument } from './user-document.ts'

/** Provisioned fields of a user, as accounts have them. */
export interface UserFields {
  readonly externalId: string | null
  readonly firstName: string
  readonly lastName: string
  readonly jobTitle: string
  readonly phone: string
  /** Null follows the company. */
  readonly language: Language | null
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const partsOf = (value: unknown): Parts => (value ?? {}) as Parts
const listOf = (value: unknown): readonly Parts[] => (value ?? []) as readonly Parts[]

const languageOf = (tag: unknown): Language | null => languageOfTag(textOf(tag)) ?? null

/** The one number that accounts have. */
function phoneOf(numbers: readonly Parts[]): string {
  const given = numbers.filter(({ value }) => textOf(value) !== '')
  const chosen =
    given.find(({ primary }) => primary === true) ??
    given.find(({ type }) => textOf(type).toLowerCase() === 'work') ??
    given[0]
  return textOf(chosen?.value)
}

/** What accounts keep of a document. */
export function fieldsOf(document: UserDocument): UserFields {
  const { givenName, familyName } = partsOf(document.name)
  return {
    externalId: textOf(document.externalId) || null,
    firstName: textOf(givenName),
    lastName: textOf(familyName),
    jobTitle: textOf(document.title),
    phone: phoneOf(listOf(document.phoneNumbers)),
    language: languageOf(document.preferredLanguage),
  }
}

/** Numbers as they were sent while that of the account is among them. */
function numbersOf(sent: readonly Parts[], phone: string): readonly Parts[] | undefined {
  if (phone === '') return undefined
  if (sent.some(({ value }) => value === phone)) return sent
  return [{ value: phone, type: 'work', primary: true }]
}

/** What was sent about a user, with what accounts have by now: users change their own names and numbers. */
export function documentOf(sent: UserDocument, fields: UserFields): UserDocument {
  const { externalId, firstName, lastName, jobTitle, phone, language } = fields
  const { name: sentName, phoneNumbers, preferredLanguage, externalId: _, title: __, ...rest } = sent
  const { givenName: ___, familyName: ____, ...nameRest } = partsOf(sentName)
  const name = {
    ...nameRest,
    ...(firstName !== '' && { givenName: firstName }),
    ...(lastName !== '' && { familyName: lastName }),
  }
  const numbers = numbersOf(listOf(phoneNumbers), phone)
  const tag = languageOf(preferredLanguage) === language ? preferredLanguage : language
  return {
    ...rest,
    ...(externalId !== null && { externalId }),
    ...(Object.keys(name).length > 0 && { name }),
    ...(jobTitle !== '' && { title: jobTitle }),
    ...(numbers && { phoneNumbers: numbers }),
    ...(textOf(tag) !== '' && { preferredLanguage: tag }),
  }
}
