import type { Transporter } from 'nodemailer'
import { composed, MailRefused, type Outbox } from './outbox.ts'

/** Milliseconds after which an attempt is over; a mail waits in the queue, so no request waits for it. */
export interface SmtpTimeouts {
  /** For resolving the name and connecting. */
  readonly connect: number
  readonly greeting: number
  /** During which the server says nothing. */
  readonly silence: number
  /** For all of it. */
  readonly total: number
}

const usual: SmtpTimeouts = { connect: 10_000, greeting: 10_000, silence: 20_000, total: 60_000 }

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether a password would leave this machine unless TLS is insisted on. */
function mustUseTls(url: string): boolean {
  const { protocol, username, hostname } = new URL(url)
  return protocol === 'smtp:' && username !== '' && !loopback.test(hostname)
}

/**
 * A failure as it may be logged and kept. What a server answers is left out: it may repeat a link of the mail. A
 * recipient that is refused for good (RFC 5321 4.2.1) is no matter for another attempt.
 */
function failureOf(error: Error & { command?: string; responseCode?: number }): Error {
  const { command = 'the connection', responseCode } = error
  if (responseCode === undefined) return error
  const message = `${command} was answered with ${responseCode}`
  const isFinal = command === 'RCPT TO' && responseCode >= 500 && responseCode <= 599
  return isFinal ? new MailRefused(message) : new Error(message)
}

/**
 * Sends mails to an SMTP server, each over its own connection. `smtps:` is TLS from the first byte; `smtp:`
 * takes the server's offer of STARTTLS and insists on it before it sends a password to another machine. A
 * certificate that is not valid ends the attempt.
 */
export function createSmtpOutbox(dependencies: {
  url: string
  from: string
  timeouts?: SmtpTimeouts
}): Outbox {
  const { url, from, timeouts = usual } = dependencies
  let transport: Promise<Transporter> | undefined
  async function open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      url,
      ...(mustUseTls(url) ? { requireTLS: true } : {}),
      connectionTimeout: timeouts.connect,
      dnsTimeout: timeouts.connect,
      greetingTimeout: timeouts.greeting,
      socketTimeout: timeouts.silence,
    })
  }
  return {
    async send(mail) {
      try {
        transport ??= open()
        await (await transport).sendMail({
          from,
          ...composed(mail),
          signal: AbortSignal.timeout(timeouts.total),
        })
      } catch (error) {
        throw failureOf(error as Error)
      }
    },
    close: () => void transport?.then((opened) => opened.close()),
  }
}
