import { type ErrorName, errorTable } from './errors.ts'
import type { Operation } from './operation.ts'

/** Failures of every request with a JSON body that the validator checks. */
const bodyErrors: readonly ErrorName[] = [
  'validation',
  'malformed',
  'tooComplex',
  'payloadTooLarge',
  'unsupportedMediaType',
]

/** Failures of every form. */
const formErrors: readonly ErrorName[] = ['payloadTooLarge', 'unsupportedMediaType']

/**
 * Every failure that an operation can answer: its own rows and those that its scope and shapes bring, in the
 * order of status and error code.
 */
export function errorsOf(operation: Operation): ErrorName[] {
  const { scope, schema, described, consumes, permission, access } = operation
  const names = new Set<ErrorName>(operation.errors)
  if (scope === 'authenticated') {
    names.add('unauthenticated')
    if (permission || access) names.add('forbidden')
  }
  if (schema.params || schema.querystring || scope === 'authenticated') names.add('validation')
  if (schema.body) for (const name of bodyErrors) names.add(name)
  if (described?.body && scope === 'open') {
    const isForm = !consumes?.includes('application/json')
    for (const name of isForm ? formErrors : bodyErrors) names.add(name)
  }
  names.add('internal')
  if (scope !== 'collector') names.add('unavailable')
  return [...names].sort((a, b) => {
    const [x, y] = [errorTable[a], errorTable[b]]
    return x.status - y.status || x.errorCode - y.errorCode
  })
}
