import type { Fault } from '@millrace/contract/failure-data.ts'

/** HTML Living Standard, "valid e-mail address": ASCII only, no quoted local part, no comment. */
const pattern =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

/** RFC 5321 4.5.3.1.3, without the angle brackets. */
const maximumLength = 254

/**
 * The one form in which an e-mail address is stored and compared: lower case. Undefined when the text is not
 * an address; that includes any character outside ASCII, because `toLowerCase` makes `k` of the Kelvin sign
 * and would let one user's text find another user's account.
 */
export function parseEmailAddress(text: string): string | undefined {
  return text.length <= maximumLength && pattern.test(text) ? text.toLowerCase() : undefined
}

/**
 * What is wrong with a list of recipients at this path.
 * @param readers those of them that the company's mails may go to
 */
export function faultsOfRecipients(
  path: string,
  recipients: readonly string[],
  readers: readonly { readonly email: string }[],
): Fault[] {
  return recipients.flatMap((each, place) => {
    const fault = (message: string) => [{ path: `${path}.${place}`, message }]
    if (recipients.indexOf(each) !== place) return fault(`names ${each} twice`)
    if (readers.some(({ email }) => email === each)) return []
    return fault(
      `must be an active user of your company, or an address of a domain that it has verified; ${each} is neither`,
    )
  })
}
