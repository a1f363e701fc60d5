import { createTransport } from 'nodemailer'
import { composed, MailRefused, type Outbox } from './outbox.ts'

/** Milliseconds after which an attempt is over; a mail waits in the queue, so nobody waits for it. */
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

/** The server knows for sure that this recipient does not take mail (RFC 5321 4.2.1). */
function isRefusal(error: { command?: string; responseCode?: number }): boolean {
  const { command, responseCode = 0 } = error
  return command === 'RCPT TO' && responseCode >= 500 && responseCode <= 599
}

/**
 * Hands mails to an SMTP server, each over a connection of its own. `smtps:` is TLS from the first byte; `smtp:`
 * takes the server's offer of STARTTLS and insists on it before it tells a password to another machine. A
 * certificate that is not valid ends the attempt.
 */
export function createSmtpOutbox(dependencies: {
  url: string
  from: string
  timeouts?: SmtpTimeouts
}): Outbox {
  const { url, from, timeouts = usual } = dependencies
  const transport = createTransport({
    url,
    ...(mustUseTls(url) ? { requireTLS: true } : {}),
    connectionTimeout: timeouts.connect,
    dnsTimeout: timeouts.connect,
    greetingTimeout: timeouts.greeting,
    socketTimeout: timeouts.silence,
  })
  return {
    async send(mail) {
      try {
        await transport.sendMail({ from, ...composed(mail), signal: AbortSignal.timeout(timeouts.total) })
      } catch (error) {
        if (isRefusal(error as { command?: string; responseCode?: number }))
          throw new MailRefused((error as Error).message, error)
        throw error
      }
    },
    close: () => transport.close(),
  }
}
