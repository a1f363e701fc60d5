import { access, mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'

/** One mail; addresses come from the database, never from a request as it stands. */
export interface Mail {
  /** The same for every attempt to send it, so that an attempt whose end nobody saw does not make two of it. */
  readonly id?: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** Port of the mail home: a directory of `.eml` files, or an SMTP server. */
export interface Outbox {
  /** Resolves when the mail is durably written or taken by the server; rejects when it was not. */
  send(mail: Mail): Promise<void>
  close(): void
}

/** RFC 5322 3.6.4; a receiver that got the mail already tells by it. */
const messageIdOf = (id: string): string => `<${id}@millrace>`

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
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
  return {
    async send({ id = newId(), ...mail }) {
      const target = join(directory, `${id}.eml`)
      if (await exists(target)) return
      const composed = await composer.sendMail({ from, ...mail, messageId: messageIdOf(id) })
      // A part that an interrupted attempt has left is written again.
      const file = await open(`${target}.part`, 'w', 0o600)
      try {
        await file.writeFile(composed.message as Buffer)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${target}.part`, target)
    },
    close: () => composer.close(),
  }
}

/** Hands mails to an SMTP server; connection and greeting are bounded so that a dead server cannot hold a request. */
export function createSmtpOutbox(dependencies: { url: string; from: string }): Outbox {
  const transport = createTransport(dependencies.url, {
    from: dependencies.from,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ id, ...mail }) {
      await transport.sendMail({ ...mail, ...(id === undefined ? {} : { messageId: messageIdOf(id) }) })
    },
    close: () => transport.close(),
  }
}
