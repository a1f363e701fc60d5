import { createMailService } from '../../src/features/mail/mail-service.ts'
import { createMailStore } from '../../src/features/mail/mail-store.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createSmtpOutbox } from '../../src/platform/mail/smtp-outbox.ts'
import { openRelational, type SocketAddress } from '../../src/platform/stores/relational.ts'

/** What a process that sends mails is told, as JSON in its first argument. */
export interface MailWorkerTask {
  readonly address: SocketAddress
  /** Encryption key, in base64. */
  readonly key: string
  readonly smtpUrl: string
}

// A process of its own, so that a test can kill it.
if (process.argv[1] === import.meta.filename) {
  const { address, key, smtpUrl } = JSON.parse(process.argv[2] ?? '{}') as MailWorkerTask
  const { db } = openRelational({ address, logger: silentLogger })
  const outbox = createSmtpOutbox({ url: smtpUrl, from: 'Millrace <noreply@shop.example>' })
  const store = createMailStore(db, createSecretBox([Buffer.from(key, 'base64')]))
  await createMailService({ store, outbox, log: silentLogger }).work()
}
