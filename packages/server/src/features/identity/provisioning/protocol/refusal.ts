import type { ErrorName } from '@millrace/contract/errors.ts'

interface RefusalKind {
  /** HTTP status. */
  readonly status: number
  /** Detail error keyword of RFC 7644 3.12, table 9. */
  readonly scimType?: string
  /** Its name in the audit log. */
  readonly errorName: ErrorName
}

const kinds = {
  invalidFilter: { status: 400, scimType: 'invalidFilter', errorName: 'validation' },
  invalidPath: { status: 400, scimType: 'invalidPath', errorName: 'validation' },
  invalidSyntax: { status: 400, scimType: 'invalidSyntax', errorName: 'validation' },
  invalidValue: { status: 400, scimType: 'invalidValue', errorName: 'validation' },
  mutability: { status: 400, scimType: 'mutability', errorName: 'validation' },
  noTarget: { status: 400, scimType: 'noTarget', errorName: 'validation' },
  lastAdministrator: { status: 400, scimType: 'mutability', errorName: 'lastAdministrator' },
  uniqueness: { status: 409, scimType: 'uniqueness', errorName: 'conflict' },
  unauthenticated: { status: 401, errorName: 'unauthenticated' },
  notFound: { status: 404, errorName: 'notFound' },
  groupSyncOff: { status: 501, errorName: 'groupSyncOff' },
} as const satisfies Record<string, RefusalKind>

/** A refused request of the identity provider, as an error of RFC 7644 3.12. */
export class ScimRefusal extends Error {
  readonly status: number
  readonly scimType: string | undefined
  readonly errorName: ErrorName

  /** @param detail what is wrong and what would be right */
  constructor(kind: keyof typeof kinds, detail: string, options: { cause?: unknown } = {}) {
    super(detail, options)
    const { status, scimType, errorName }: RefusalKind = kinds[kind]
    this.name = 'ScimRefusal'
    this.status = status
    this.scimType = scimType
    this.errorName = errorName
  }
}

/** A value from outside for a message, cut to a short length. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

export const takenUser = () =>
  new ScimRefusal('uniqueness', 'There is a user with this userName or externalId already')

export const notOwnedName = () =>
  new ScimRefusal(
    'mutability',
    'userName must stay an address of a domain that the company has verified: verify the domain of the new one first',
  )

export const takenGroup = () =>
  new ScimRefusal('uniqueness', 'There is a group with this displayName or externalId already')
