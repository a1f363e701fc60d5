import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSelfSignedCertificate } from './self-signed-certificate.ts'

const notBefore = new Date('2026-01-31T12:00:00Z')

test('a certificate is what node:crypto reads, signed by its own key', async () => {
  const notAfter = new Date('2029-01-31T12:00:00Z')
  const made = await createSelfSignedCertificate({ name: 'Millrace 65f0c0ff é', notBefore, notAfter })
  const certificate = new X509Certificate(made.certificate)
  expect(certificate.subject).toBe('CN=Millrace 65f0c0ff é')
  expect(certificate.issuer).toBe(certificate.subject)
  expect(certificate.validFromDate).toEqual(notBefore)
  expect(certificate.validToDate).toEqual(notAfter)
  expect(certificate.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048)
  const key = createPrivateKey(made.privateKey)
  expect(certificate.checkPrivateKey(key)).toBe(true)
  expect(certificate.verify(createPublicKey(key))).toBe(true)
})

test('years from 2050 are written with four digits, and no two serial numbers are the same', async () => {
  const notAfter = new Date('2051-01-31T12:00:00Z')
  const made = await Promise.all(
    [1, 2].map(() => createSelfSignedCertificate({ name: 'x', notBefore, notAfter, bits: 2048 })),
  )
  const [first, second] = made.map(({ certificate }) => new X509Certificate(certificate))
  expect(first?.validToDate).toEqual(notAfter)
  expect(first?.serialNumber).not.toBe(second?.serialNumber)
  expect(first?.publicKey.equals(second?.publicKey as never)).toBe(false)
})
