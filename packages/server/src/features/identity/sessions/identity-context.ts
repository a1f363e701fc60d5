import type { RecordAudit } from '../../../platform/audit.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Passwords } from '../../../platform/crypto/passwords.ts'
import type { SecretBox } from '../../../platform/crypto/secret-box.ts'
import type { RandomBytes } from '../../../platform/crypto/secrets.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { EnqueueMail } from '../../../platform/mail/mail-queue.ts'
import type { Relational } from '../../../platform/stores/relational.ts'

/** What services of identity share; each names the parts that it uses. */
export interface IdentityContext {
  readonly relational: Pick<Relational, 'db' | 'transaction'>
  readonly recordAudit: RecordAudit
  readonly passwords: Passwords
  readonly box: SecretBox
  readonly enqueueMail: EnqueueMail
  /** Address under which users reach the service, without a path; never from a request. */
  readonly publicUrl: () => string
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly random?: RandomBytes | undefined
}
