import { describe, expect, test } from 'vitest'
import { authenticatorAddress, codeOf, matchingStep, stepOf, toBase32 } from './totp.ts'

const secret = Buffer.from('12345678901234567890')

describe('codes', () => {
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %i s it is the one of RFC 6238, appendix B, in six digits', (seconds, code) => {
    expect(codeOf(secret, stepOf(seconds * 1000))).toBe(code)
  })

  test('one step on either side is taken, two are not', () => {
    const now = 1_700_000_000_000
    const step = stepOf(now)
    expect([-2, -1, 0, 1, 2].map((by) => matchingStep(secret, codeOf(secret, step + by), now))).toEqual([
      undefined,
      step - 1,
      step,
      step + 1,
      undefined,
    ])
    for (const text of ['', '12345', '1234567', '１２３４５６', `${codeOf(secret, step)}\n`])
      expect(matchingStep(secret, text, now)).toBeUndefined()
  })
})

test('base32 is that of RFC 4648 10, without padding', () => {
  expect(
    ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => toBase32(Buffer.from(text))),
  ).toEqual(['', 'MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI'])
})

test('the address for applications names issuer and account', () => {
  expect(authenticatorAddress(secret, 'ada@example.com')).toBe(
    'otpauth://totp/Millrace:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Millrace&algorithm=SHA1&digits=6&period=30',
  )
})
