import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { signatureAlgorithms } from './signature-algorithms.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = (key: typeof rsa.publicKey) => key.export({ type: 'spki', format: 'pem' }).toString()
const text = '<SignedInfo>é</SignedInfo>'

function verify(name: string, key: typeof rsa.publicKey, signature: Buffer): boolean {
  const Algorithm = signatureAlgorithms[`http://www.w3.org/2001/04/xmldsig-more#${name}`]
  if (!Algorithm) throw new Error(`there is no ${name}`)
  return new Algorithm().verifySignature(text, pem(key), signature.toString('base64'))
}

test.each(['sha256', 'sha384', 'sha512'])('RSA and ECDSA with %s verify what was signed', (hash) => {
  const byRsa = sign(hash, Buffer.from(text), rsa.privateKey)
  const byEc = sign(hash, Buffer.from(text), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' })
  expect(verify(`rsa-${hash}`, rsa.publicKey, byRsa)).toBe(true)
  expect(verify(`ecdsa-${hash}`, ec.publicKey, byEc)).toBe(true)
  byRsa.writeUInt8(byRsa.readUInt8(9) ^ 1, 9)
  byEc.writeUInt8(byEc.readUInt8(9) ^ 1, 9)
  expect(verify(`rsa-${hash}`, rsa.publicKey, byRsa)).toBe(false)
  expect(verify(`ecdsa-${hash}`, ec.publicKey, byEc)).toBe(false)
})

test('a key of another kind than the algorithm verifies nothing', () => {
  const byRsa = sign('sha256', Buffer.from(text), rsa.privateKey)
  expect(verify('ecdsa-sha256', rsa.publicKey, byRsa)).toBe(false)
  expect(verify('rsa-sha256', ec.publicKey, byRsa)).toBe(false)
})

test('there is no algorithm with SHA-1, HMAC or DSA', () => {
  expect(Object.keys(signatureAlgorithms).join()).not.toMatch(/sha1|hmac|dsa-sha1|#dsa/)
  expect(Object.keys(signatureAlgorithms)).toHaveLength(6)
})
