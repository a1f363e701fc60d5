import type { TSchema } from 'typebox'
import type { ErrorName } from './errors.ts'
import type { Permission } from './permissions.ts'
import type { AuditAction } from './resources/audit-entry.ts'

/**
 * `open`: no token. `authenticated`: a bearer token, and `permission` where there is one. `collector`: the
 * collector's address, no token, its own limits and reply format.
 */
export type Scope = 'open' | 'authenticated' | 'collector'

/** Groups of operations, in the order of the documents, each with what it is about. */
export const tags = {
  Authentication: 'Access tokens and refresh tokens, and the way to sign-in.',
  Collector: 'Receives behavioural events from web, mobile and server senders.',
  Statistics: 'Queries over measures and dimensions, saved queries, reports, experiments and tags.',
  Datasources: 'Where events and rows come in, and what became of them.',
  Workflows: 'Personalised content: workflows, their templates and parameters.',
  Accounts: 'Users with their roles and teams, the company, and accounts linked to users.',
  'Single sign-on': 'Signing in through the company’s identity provider.',
  Provisioning: 'Users and groups kept by the company’s identity provider (SCIM).',
} as const

export type Tag = keyof typeof tags

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** One example for the documents; `value` conforms to the schema it stands beside. */
export interface Example {
  readonly summary: string
  readonly value: unknown
}

/** A reply in another content type than `application/json`, or an example of the JSON one. */
export interface ReplyDocument {
  readonly description?: string
  /** Response headers by name, each with what it says. */
  readonly headers?: Readonly<Record<string, string>>
  readonly examples?: Readonly<Record<string, Example>>
  /** Further content types of the same status, each with an example of the bare body. */
  readonly alternatives?: Readonly<Record<string, { readonly description: string; readonly example: string }>>
}

/** How an operation that changes users, permissions or credentials appears in the audit log. */
export interface OperationAudit {
  readonly action: AuditAction
  /** Kind of its target; absent where that is the caller's own credential. */
  readonly target?: string
  /** Whose id the target has where the path names none. */
  readonly of?: 'caller' | 'company'
  /** The parameter of the path that is the id of the target, where that is not `id`. */
  readonly param?: string
  /** The parameter of the path, or the field of the body, that names a target without an id. */
  readonly named?: string
}

/**
 * One operation of the interface as data: the only home of its path and shapes. `route(scope, readRole, handler)`
 * answers it, with the types of its schemas; the OpenAPI document and the SDK read it.
 */
export interface Operation {
  /** Unique, lower camel case, a verb first: `runQuery`. */
  readonly id: string
  /**
   * The number of the operation in docs/interface.md, Endpoints; without one it is an extension
   * (`x-millrace-extension` in the OpenAPI document).
   */
  readonly number?: number
  readonly method: Method
  /** Full path as Fastify writes it: `/v2/statistics/query/:id`. */
  readonly url: string
  readonly scope: Scope
  /** Checked before the handler in the authenticated scope. */
  readonly permission?: Permission
  /** Who may call, where one permission does not say all of it. */
  readonly access?: string
  readonly tag: Tag
  readonly summary: string
  /** Markdown of plain paragraphs, lists and code spans. */
  readonly description?: string
  /** Action under which refusals are recorded; a success is recorded by the service that does the work. */
  readonly audit?: OperationAudit
  /** Rows of the error table that this operation answers, besides those that its scope always has. */
  readonly errors: readonly ErrorName[]
  /**
   * Shapes for the documents where the route validates the request itself, because its failures have another
   * form than the validator gives (tokens) or are no failures of the request (events): not enforced.
   */
  readonly described?: { readonly params?: TSchema; readonly body?: TSchema }
  /** Sending it again has no further effect, though its method does not promise that: clients repeat it. */
  readonly idempotent?: true
  /**
   * What it answers shows a secret: it is not compressed, since the length of the answer would tell of the secret
   * beside what a sender chose.
   */
  readonly holdsSecret?: true
  /** Content types of the request body; `application/json` alone when absent. */
  readonly consumes?: readonly string[]
  /** Examples of the request body, by name. */
  readonly examples?: Readonly<Record<string, Example>>
  /** What the schemas of the replies do not say, by status. */
  readonly replies?: Readonly<Record<number, ReplyDocument>>
  readonly schema: {
    readonly params?: TSchema
    readonly querystring?: TSchema
    readonly headers?: TSchema
    readonly body?: TSchema
    /** By status; `Type.Null()` stands for an empty body. */
    readonly response: Readonly<Record<number, TSchema>>
  }
}
