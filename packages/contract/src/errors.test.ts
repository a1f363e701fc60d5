import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { type ErrorRow, errorTable } from './errors.ts'

const rows = Object.entries<ErrorRow>(errorTable)

test('each pair of error code and status is unique', () => {
  const pairs = rows.map(([, { errorCode, status }]) => `${errorCode}/${status}`)
  expect(pairs).toEqual([...new Set(pairs)])
})

const blocks = [
  ['general', 1, 99],
  ['datasources and collector', 1000, 1999],
  ['accounts, sign-on and provisioning', 2000, 2999],
  ['workflows', 3000, 3999],
  ['statistics', 9000, 9999],
] as const

test('each error code lies in one of the blocks, and the rows are in order', () => {
  const codes = rows.map(([, row]) => row.errorCode)
  for (const code of codes) {
    expect(blocks.some(([, first, last]) => code >= first && code <= last)).toBe(true)
  }
  expect(codes).toEqual([...codes].sort((a, b) => a - b))
})

test('holds the fixed rows of docs/interface.md as they are written there', () => {
  expect(errorTable.experimentNotFound).toMatchObject({
    errorCode: 9000,
    status: 404,
    message: 'Unable to find experiment',
  })
  expect(errorTable.tagKeyNameTaken).toMatchObject({
    errorCode: 9001,
    status: 409,
    message: 'A tag key with this name already exists',
  })
  expect(errorTable.sampleFailed).toMatchObject({ errorCode: 1012, message: 'Failed to get sample' })
})

test('uses the 9000 codes that clients know from docs/interface.md for no other conflict', () => {
  for (const [name, row] of rows) {
    if (row.status === 409 && row.errorCode >= 9000 && row.errorCode <= 9034) {
      expect(name).toBe('tagKeyNameTaken')
    }
  }
})

test.each(rows)('%s has a failing status, a sentence, and data that is a strict object', (_name, row) => {
  expect(row.status).toBeGreaterThanOrEqual(400)
  expect(row.status).toBeLessThan(600)
  expect(row.message).toMatch(/^[A-Z][^.]*$|^[A-Z].*[^.]$/)
  expect(row.data).toMatchObject({ type: 'object', additionalProperties: false })
  new Ajv({ strict: true }).compile(row.data)
})

test('gives the RFC 6749 name that the token service answers with', () => {
  const oauth = rows.flatMap(([name, row]) => (row.oauth ? [[name, row.status, row.oauth]] : []))
  expect(oauth).toEqual([
    ['invalidTokenRequest', 400, 'invalid_request'],
    ['unsupportedGrantType', 400, 'unsupported_grant_type'],
    ['unauthorizedClient', 400, 'unauthorized_client'],
    ['invalidGrant', 400, 'invalid_grant'],
    ['invalidClient', 401, 'invalid_client'],
    ['invalidCredentials', 401, 'invalid_grant'],
    ['tooManyAttempts', 429, 'too_many_attempts'],
    ['signInUnavailable', 503, 'temporarily_unavailable'],
    ['otpRequired', 401, 'otp_required'],
    ['invalidRedirectUri', 400, 'invalid_request'],
  ])
})
