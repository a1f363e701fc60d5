import { createPublicKey, generateKeyPair, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'

/** A private key with a certificate that names it. */
export interface KeyWithCertificate {
  /** PKCS #8 in PEM. */
  readonly privateKey: string
  /** X.509 in PEM. */
  readonly certificate: string
}

export interface CertificateRequest {
  /** What the certificate is for: its common name. */
  readonly name: string
  readonly notBefore: Date
  readonly notAfter: Date
  /** Key length in bits; 2048 by default. */
  readonly bits?: number
}

const tags = {
  integer: 0x02,
  bitString: 0x03,
  objectId: 0x06,
  utf8: 0x0c,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
}

/** X.690 8.1.3: short form below 128, else the number of length bytes and these. */
function lengthOf(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size])
  const bytes = size < 0x100 ? [size] : [size >> 8, size & 0xff]
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  if (content.length > 0xffff) throw new RangeError('a certificate is never that long')
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

const sequence = (...parts: readonly Buffer[]) => der(tags.sequence, ...parts)
const objectId = (hex: string) => der(tags.objectId, Buffer.from(hex, 'hex'))
const bitString = (content: Buffer) => der(tags.bitString, Buffer.from([0]), content)

/** GeneralizedTime, which is valid for any year. RFC 5280 wants UTCTime before 2050. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  if (date.getUTCFullYear() >= 2050) return der(tags.time, Buffer.from(digits, 'ascii'))
  return der(0x17, Buffer.from(digits.slice(2), 'ascii'))
}

/** 1.2.840.113549.1.1.11 with its NULL parameter. */
const sha256WithRsa = sequence(objectId('2a864886f70d01010b'), Buffer.from([0x05, 0x00]))

/** 2.5.4.3 */
const commonName = (name: string) =>
  sequence(der(tags.set, sequence(objectId('550403'), der(tags.utf8, Buffer.from(name, 'utf8')))))

const pem = (certificate: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${(certificate.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`

const generate = promisify(generateKeyPair)

/** A new RSA key with a certificate that it signs itself, SHA-256 (RFC 5280 4.1, version 3 without extensions). */
export async function createSelfSignedCertificate(request: CertificateRequest): Promise<KeyWithCertificate> {
  const { name, notBefore, notAfter, bits = 2048 } = request
  const { privateKey } = await generate('rsa', { modulusLength: bits })
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  // Positive and without a leading zero byte.
  const serial = randomBytes(16)
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0)
  const subject = commonName(name)
  const toSign = sequence(
    der(0xa0, der(tags.integer, Buffer.from([2]))),
    der(tags.integer, serial),
    sha256WithRsa,
    subject,
    sequence(time(notBefore), time(notAfter)),
    subject,
    publicKey,
  )
  const certificate = sequence(toSign, sha256WithRsa, bitString(sign('sha256', toSign, privateKey)))
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: pem(certificate),
  }
}
