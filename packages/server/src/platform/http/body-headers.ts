import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '../errors.ts'

const charsetPattern = /;\s*charset\s*=\s*"?([^\s";,]{1,40})/i

/** US-ASCII is a part of UTF-8. */
const readableCharsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii'])

/**
 * Refuses a body that says of itself that it is compressed or not UTF-8: read as if it said nothing, it would
 * fail with a message about something else, or pass with other letters.
 * @throws DomainError `unsupportedMediaType`
 */
export function assertPlainUtf8(headers: IncomingHttpHeaders): void {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity') {
    throw new DomainError(
      'unsupportedMediaType',
      { accepted: ['identity'] },
      {
        message: {
          en: `Content-Encoding ${JSON.stringify(coding.slice(0, 40))} is not accepted here; send the body uncompressed`,
          fr: `Content-Encoding ${JSON.stringify(coding.slice(0, 40))} n’est pas accepté ici ; envoyez le formulaire sans compression.`,
        },
      },
    )
  }
  const charset = charsetPattern.exec(headers['content-type'] ?? '')?.[1]
  if (charset !== undefined && !readableCharsets.has(charset.toLowerCase())) {
    throw new DomainError(
      'unsupportedMediaType',
      { accepted: ['utf-8'] },
      {
        message: {
          en: `The charset ${JSON.stringify(charset)} is not accepted here; send the body as UTF-8`,
          fr: `Le jeu de caractères ${JSON.stringify(charset)} n’est pas accepté ici ; envoyez le formulaire en UTF-8.`,
        },
      },
    )
  }
}
