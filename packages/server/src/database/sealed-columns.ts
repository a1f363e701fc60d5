import type { PgColumn } from '../platform/stores/postgres/drizzle.ts'
import { clickKeys } from './tables/click-key.ts'
import { linkedAccounts } from './tables/linked-account.ts'
import { outgoingMails } from './tables/outgoing-mail.ts'
import { personErasures } from './tables/person-erasure.ts'
import { userAuthenticators } from './tables/sign-in.ts'
import { ssoCertificates } from './tables/single-sign-on.ts'
import { workerDatasources } from './tables/worker-datasource.ts'

/** A column of sealed secrets. Each opens in the context of its own row alone, so that none works in another one. */
export interface SealedColumn {
  readonly column: PgColumn
  /** The primary key of its table. */
  readonly id: PgColumn
  readonly contextOf: (id: string) => string
}

/**
 * Every column of sealed secrets: what is not listed here is not re-encrypted when keys are rotated. Its contexts
 * are part of what is sealed, so that they never change.
 */
export const sealedColumns = {
  authenticatorSecret: {
    column: userAuthenticators.sealedSecret,
    id: userAuthenticators.userId,
    contextOf: (id) => `authenticator:${id}`,
  },
  certificateKey: {
    column: ssoCertificates.sealedKey,
    id: ssoCertificates.id,
    contextOf: (id) => `sso-certificate:${id}`,
  },
  clickKey: {
    column: clickKeys.sealedKey,
    id: clickKeys.companyId,
    contextOf: (id) => `click-key:${id}`,
  },
  linkedAccountTarget: {
    column: linkedAccounts.sealedTarget,
    id: linkedAccounts.id,
    contextOf: (id) => `linked-account:${id}`,
  },
  mailContent: {
    column: outgoingMails.sealedContent,
    id: outgoingMails.id,
    contextOf: (id) => `mail:${id}`,
  },
  erasureReference: {
    column: personErasures.sealedReference,
    id: personErasures.id,
    contextOf: (id) => `person-erasure:${id}`,
  },
  sourceHeaders: {
    column: workerDatasources.sealedHeaders,
    id: workerDatasources.datasourceId,
    contextOf: (id) => `source-headers:${id}`,
  },
} as const satisfies Readonly<Record<string, SealedColumn>>
