import { access, mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { SendMailOptions } from 'nodemailer'
import { parseEmailAddress } from './email-address.ts'

/** One mail; addresses come from the database, never from a request as it stands. */
export interface Mail {
  /** The same for every attempt to send it, so that an attempt with an unknown outcome does not deliver it twice. */
  readonly id?: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
  readonly attachments?: readonly Attachment[]
}

export interface Attachment {
  readonly filename: string
  /** As `text/csv; charset=utf-8`. */
  readonly contentType: string
  readonly content: Buffer
}

/** The mail can never be delivered: no further attempt is of use. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
}

/** Port of the mail home: a directory of `.eml` files, or an SMTP server. */
export interface Outbox {
  /**
   * Resolves when the mail is durably written or taken by the server; rejects when it was not.
   * No error repeats anything of the mail.
   * @throws MailRefused when the failure is permanent, so that no retry can succeed
   */
  send(mail: Mail): Promise<void>
  close(): void
}

/**
 * What nodemailer is given for a mail. The recipient is an object and the envelope explicit, so that no text is
 * ever read as a list of addresses.
 * @throws MailRefused when `to` is not one plain address
 */
export function composed({ id, to, attachments = [], ...content }: Mail): SendMailOptions {
  const address = parseEmailAddress(to)
  if (address === undefined) throw new MailRefused('the recipient is no e-mail address')
  return {
    ...content,
    attachments: attachments.map((each) => ({ ...each, contentDisposition: 'attachment' })),
    to: { name: '', address },
    // RFC 3834 5: no mailbox answers by itself.
    headers: { 'Auto-Submitted': 'auto-generated' },
    // RFC 5322 3.6.4; a receiver that got the mail already recognises it by this.
    ...(id === undefined ? {} : { messageId: `<${id}@millrace>` }),
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/**
 * Writes each mail as an RFC 5322 file `<id>.eml`, readable by its owner only, so that a service
 * without a mail server still shows what it would have sent.
 */
export async function createDirectoryOutbox(dependencies: {
  directory: string
  from: string
  newId: () => string
}): Promise<Outbox> {
  const { directory, from, newId } = dependencies
  await mkdir(directory, { recursive: true, mode: 0o700 })
  return {
    async send(mail) {
      const id = mail.id ?? newId()
      const target = join(directory, `${id}.eml`)
      if (await exists(target)) return
      const { createTransport } = await import('nodemailer')
      const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
      const { message } = await composer.sendMail({ from, ...composed({ ...mail, id }) })
      // A part that an interrupted attempt has left is written again.
      const file = await open(`${target}.part`, 'w', 0o600)
      try {
        await file.writeFile(message as Buffer)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${target}.part`, target)
    },
    close() {},
  }
}
