import { hash } from 'node:crypto'
import type { Person } from './person-rows-store.ts'

/** Enough of a hash for none to meet another. */
const digestLength = 22

/** Of an identifier: whose events of it are meant; an address names rows of datasources. */
export type Kind = 'client' | 'device' | 'anonymous' | 'email'

/** The salt is the company's own, so that a hash without it tells nothing. */
export const digestOf = (salt: string, kind: Kind, identifier: string): string =>
  hash('sha256', `${salt}\0${kind}\0${identifier}`, 'base64url').slice(0, digestLength)

/** The same of a column, with the salt as a parameter. */
export const digestSql = (kind: Kind, column: string): string =>
  `left(base64URLEncode(SHA256(concat({salt: String}, '\\0${kind}\\0', ${column}))), ${digestLength})`

/** By these hashes the events of a person are known again. */
export function digestsOf(
  { clientIds, tmpIds, anonymous, emails }: Pick<Person, 'clientIds' | 'tmpIds' | 'anonymous' | 'emails'>,
  salt: string,
): string[] {
  return [
    ...clientIds.map((id) => digestOf(salt, 'client', id)),
    ...tmpIds.map((id) => digestOf(salt, 'device', id)),
    ...anonymous.map((id) => digestOf(salt, 'anonymous', id)),
    ...emails.map((address) => digestOf(salt, 'email', address.toLowerCase())),
  ]
}
