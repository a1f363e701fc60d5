import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface DeliveredMail {
  readonly from: string
  readonly to: readonly string[]
  readonly message: string
  readonly messageId: string
}

export interface TestSmtp {
  readonly port: number
  readonly url: string
  /** What was handed over, also what was refused in the end. */
  readonly mails: DeliveredMail[]
  close(): Promise<void>
}

/** A mail server on this machine; `onMail` may refuse what it is given, or answer late. */
export async function startSmtp(
  options: SMTPServerOptions & { port?: number; onMail?: (mail: DeliveredMail) => Promise<void> | void } = {},
): Promise<TestSmtp> {
  const { onMail, port: wanted = 0, ...given } = options
  const mails: DeliveredMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    ...given,
    onData(stream, session, callback) {
      let message = ''
      stream.setEncoding('utf8')
      stream.on('data', (chunk: string) => {
        message += chunk
      })
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const mail = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          message,
          messageId: /^Message-ID: (.*)$/im.exec(message)?.[1]?.trim() ?? '',
        }
        mails.push(mail)
        Promise.resolve()
          .then(() => onMail?.(mail))
          .then(
            () => callback(),
            (error: Error) => callback(error),
          )
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', () => resolve()))
  const { port } = server.server.address() as AddressInfo
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
