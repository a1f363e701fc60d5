import type { RecordAudit } from './audit.ts'
import type { Clock } from './clock.ts'
import type { Passwords } from './crypto/passwords.ts'
import type { SecretBox } from './crypto/secret-box.ts'
import type { Logger } from './logger.ts'
import type { EnqueueMail } from './mail/mail-queue.ts'
import type { Queries, Relational } from './stores/relational.ts'

/** What services of all features share; each names the parts that it uses. */
export interface ServiceContext {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly recordAudit: RecordAudit
  /** Waits until no other transaction holds the company. */
  readonly lockCompany: (tx: Queries, companyId: string) => Promise<void>
  readonly enqueueMail: EnqueueMail
  /** Address under which users reach the service, without a path; never from a request. */
  readonly publicUrl: () => string
  readonly passwords: Passwords
  readonly box: SecretBox
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}
