import { type BinaryLike, createPublicKey, type KeyLike, verify } from 'node:crypto'
import type { SignatureAlgorithm } from 'xml-crypto'

/** RFC 9231: hash and kind of key of each signature that is accepted. HMAC, SHA-1 and DSA are not among them. */
const accepted = {
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': { hash: 'sha256', keyType: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384': { hash: 'sha384', keyType: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': { hash: 'sha512', keyType: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256': { hash: 'sha256', keyType: 'ec' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384': { hash: 'sha384', keyType: 'ec' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512': { hash: 'sha512', keyType: 'ec' },
} as const

type AcceptedAlgorithm = keyof typeof accepted

function isAccepted(name: string): name is AcceptedAlgorithm {
  return Object.hasOwn(accepted, name)
}

/**
 * Verification alone, with the key's kind compared to the algorithm's, so that no key is ever taken for
 * something else.
 */
function verifierOf(name: AcceptedAlgorithm): new () => SignatureAlgorithm {
  const { hash, keyType } = accepted[name]
  return class {
    getAlgorithmName(): string {
      return name
    }

    getSignature(): never {
      throw new Error('this only verifies')
    }

    verifySignature(material: BinaryLike, key: KeyLike, signature: string): boolean {
      const publicKey = createPublicKey(key as string)
      if (publicKey.asymmetricKeyType !== keyType) return false
      const data = Buffer.from(material as string, 'utf8')
      // XML signatures write the two numbers of ECDSA side by side (RFC 9231 2.3.6).
      const options = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
      return verify(hash, data, options, Buffer.from(signature, 'base64'))
    }
  }
}

/** The one table that signatures are verified from. */
export const signatureAlgorithms: Readonly<Record<string, new () => SignatureAlgorithm>> = Object.fromEntries(
  Object.keys(accepted)
    .filter(isAccepted)
    .map((name) => [name, verifierOf(name)]),
)

/** As `createHash` calls them. */
export const digestAlgorithms: Readonly<Record<string, 'sha256' | 'sha512'>> = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
}

export const exclusiveCanonicalization = 'http://www.w3.org/2001/10/xml-exc-c14n#'
/** Of what is signed itself. */
export const canonicalizationAlgorithms: Readonly<Record<string, true>> = {
  [exclusiveCanonicalization]: true,
}
export const envelopedSignature = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
