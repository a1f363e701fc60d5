import {
  type Static,
  type TArrayOptions,
  type TNumberOptions,
  type TObjectOptions,
  type TOptional,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TStringOptions,
  type TUnknown,
  Type,
} from 'typebox'

/** Objects of the interface have exactly their fields: an unknown one is refused (docs/interface.md, Envelope). */
export const strict = { additionalProperties: false } as const

/** What a builder takes beside its main argument: a description alone, or keywords. */
type Words<O extends TSchemaOptions = TSchemaOptions> = string | O

function keywords<O extends TSchemaOptions>(words: Words<O> | undefined): O {
  return (typeof words === 'string' ? { description: words } : (words ?? {})) as O
}

/** An object with exactly these fields. */
export function object<P extends TProperties>(properties: P, words?: Words<TObjectOptions>) {
  return Type.Object(properties, { ...strict, ...keywords(words) })
}

/** The same with a name, under which the OpenAPI document has it among its components. */
export function named<P extends TProperties>(title: string, properties: P, words?: Words<TObjectOptions>) {
  return Type.Object(properties, { ...strict, title, ...keywords(words) })
}

/** A text with what it says, and an example where a reader needs one. */
export function text(description: string, example?: string, options: TStringOptions = {}) {
  return Type.String({ ...options, description, ...(example !== undefined && { examples: [example] }) })
}

/** A text that is not empty, up to `maxLength`. */
export function filled(description: string, maxLength: number, example?: string) {
  return text(description, example, { minLength: 1, maxLength })
}

/** A text that an example describes. */
export function like(example: string) {
  return Type.String({ examples: [example] })
}

export function flag(description: string) {
  return Type.Boolean({ description })
}

/** A whole number from 0. */
export function count(description: string) {
  return Type.Integer({ minimum: 0, description })
}

export function integer(minimum: number, maximum: number, description: string, example?: number) {
  return Type.Integer({
    minimum,
    maximum,
    description,
    ...(example !== undefined && { examples: [example] }),
  })
}

export function listOf<T extends TSchema>(item: T, words?: Words<TArrayOptions>) {
  return Type.Array(item, keywords(words))
}

/** Marks a field that docs/interface.md does not have. */
export function extension<T extends TSchema>(schema: T): T {
  const mark = { value: true, enumerable: true, configurable: true, writable: true }
  return Object.create(Object.getPrototypeOf(schema), {
    ...Object.getOwnPropertyDescriptors(schema),
    'x-millrace-extension': mark,
  })
}

type Optionals<P extends TProperties> = { [K in keyof P]: TOptional<P[K]> }

/** The fields of a partial update: one that is absent stays as it is. */
export function optionals<P extends TProperties>(properties: P): Optionals<P> {
  const optional = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])
  return Object.fromEntries(optional) as Optionals<P>
}

/** The body that writes a resource: its writable fields, and what replies have beside them. */
export function bodyOf<R extends TProperties, W extends TProperties>(
  title: string,
  resource: { readonly properties: R },
  writable: W,
) {
  return named(title, { ...writable, ...responseOnly(resource, writable) })
}

/** 24 hexadecimal characters; JavaScript's `$` does not match before a final line feed, nor `9` in full width. */
export const idPattern = '^[0-9a-fA-F]{24}$'

const namePattern = '^\\p{Zs}*[^\\p{Cc}\\p{Cs}\\s][^\\p{Cc}\\p{Cs}]*$'
const textPattern = '^[^\\p{Cs}\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$'
const linePattern = '^[^\\p{Cc}\\p{Cs}]*$'
const emailPattern = '^[^\\s@"(),:;<>\\[\\]\\\\\\p{Cc}\\p{Cs}]+@[\\p{L}\\p{N}.-]+$'
export const timeOfDayPattern = '^([01][0-9]|2[0-3]):[0-5][0-9]$'
/** An identifier that clients may choose, within an object. */
export const keyPattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'
/** Any text that a store can keep. */
export const storablePattern = '^[^\\p{Cs}\\u0000]*$'
/** A place in a short list. */
export const indexPattern = '^(0|[1-9][0-9]?)$'
/** Of a file that is sent; a directory is no part of it. */
export const fileNamePattern = '^[^\\p{Cc}\\p{Cs}/\\\\]*$'
export const webhookSecretPattern = '^[!-~]{16,256}$'
/** A currency (ISO 4217). */
export const currencyPattern = '^[A-Z]{3}$'
/** A place of the web application, below its own address. */
export const placePattern = '^/[^\\p{Cc}\\p{Cs}]*$'
/** Where a value stands in a SAML assertion. */
export const assertionPathPattern = '^(nameId|attributes\\.[^\\p{C}\\p{Z}]{1,256})$'

/** The header `If-Match`: `*`, or entity tags with commas between them (RFC 9110 13.1.1). */
export const ifMatchPattern = '^ *(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*) *$'

/** What a text that does not match a pattern of the contract must be, for messages. */
export const patternMeanings: ReadonlyMap<string, string> = new Map([
  [idPattern, 'must be 24 hexadecimal characters'],
  [namePattern, 'must be one line of text that is not blank and holds no control characters'],
  [linePattern, 'must be one line of text without control characters'],
  [textPattern, 'must hold no control characters but line breaks and tabs'],
  [emailPattern, 'must be one e-mail address, as ada@example.com'],
  [timeOfDayPattern, 'must be a time of day as HH:MM, from 00:00 to 23:59'],
  [keyPattern, 'must be 1 to 64 letters, digits, dashes and underscores, the first a letter or digit'],
  [storablePattern, 'must hold no NUL and no lone surrogate'],
  [indexPattern, 'must be a number from 0 to 99'],
  [fileNamePattern, 'must be the name of a file, without slashes and control characters'],
  [webhookSecretPattern, 'must be 16 to 256 printable ASCII characters without spaces'],
  [ifMatchPattern, 'must be an ETag in its quotes, as "7", or *'],
  [currencyPattern, 'must be the three capital letters of a currency, as EUR'],
  [placePattern, 'must begin with / and hold no control characters'],
  [assertionPathPattern, 'must be nameId, or attributes. followed by the name of an attribute'],
])

/** An identifier of an object of the service, with what it identifies. */
export function id(description: string) {
  return text(description, '65f0c0ffee5ca1ab1e0ddba1', { pattern: idPattern })
}

/** An instant, ISO 8601. */
export function dateTime(description: string) {
  return text(description, '2026-01-31T12:00:00.000Z', { format: 'date-time' })
}

/** One of a closed list of texts. */
export function oneOf<const W extends string[]>(values: readonly [...W], words?: Words) {
  return Type.Enum(values as [...W], { type: 'string', ...keywords(words) })
}

/** The value or null, in the form that validators and serialisers agree on. */
export function nullable<T extends TSchema>(schema: T, words?: Words) {
  return Type.Union([schema, Type.Null()], keywords(words))
}

/** An object used as a map; keys are free, also with line feeds. */
export function mapOf<T extends TSchema>(value: T, words?: Words) {
  return Type.Unsafe<Record<string, Static<T>>>({
    type: 'object',
    additionalProperties: value,
    ...keywords(words),
  })
}

/** An object whose inside the interface leaves open. */
export function freeObject(description: string) {
  return mapOf(Type.Unknown(), description)
}

/**
 * A name that a user gives: not blank, on one line, at most `maxLength` code points, without control
 * characters and lone surrogates. The three classes of the pattern exclude each other where they meet, so
 * that it is linear on any input.
 */
export function nameText(description: string, maxLength = 200, options: TSchemaOptions = {}) {
  return Type.String({ minLength: 1, maxLength, pattern: namePattern, description, ...options })
}

/** One line of text, empty too. */
export function lineText(description: string, maxLength = 200) {
  return Type.String({ maxLength, pattern: linePattern, description })
}

/** A text of several lines; of the control characters only line feed, carriage return and tab. */
export function longText(description: string, maxLength = 2000) {
  return Type.String({ maxLength, pattern: textPattern, description })
}

/**
 * One bare e-mail address: one `@`, no quoted local part, no comment, no list and no control character, so
 * that it can never become a second recipient or a header.
 */
export function emailAddress(description: string) {
  return text(description, 'ada@example.com', { minLength: 3, maxLength: 254, pattern: emailPattern })
}

export type ResponseOnly<R extends TProperties, W extends TProperties> = {
  [K in Exclude<keyof R, keyof W>]: TOptional<TUnknown>
}

/**
 * The response-only fields of a resource, as its request body takes them: accepted whatever they hold and
 * ignored, so that what was read can be sent back (docs/interface.md, Envelope). Their type is `unknown`, so that
 * a body spread into a record does not compile.
 */
export function responseOnly<R extends TProperties, W extends TProperties>(
  resource: { readonly properties: R },
  writable: W,
): ResponseOnly<R, W> {
  const ignored: Record<string, TSchema> = {}
  for (const name of Object.keys(resource.properties)) {
    if (Object.hasOwn(writable, name)) continue
    ignored[name] = Type.Optional(
      Type.Unknown({ readOnly: true, description: 'Response only: accepted and ignored' }),
    )
  }
  return ignored as ResponseOnly<R, W>
}

/** A number that a request may leave out, because the validator fills in its default; the type says so too. */
function defaultedInteger(options: TNumberOptions & { readonly default: number }) {
  return Object.assign(Type.Optional(Type.Integer(options)), { default: options.default })
}

/** When a thing was made and changed last. */
export const times = {
  createdAt: dateTime('When it was made'),
  updatedAt: dateTime('When it was changed last'),
}

/** `page` and `perPage` of every paginated list (docs/interface.md, Envelope). */
export const pagination = {
  page: defaultedInteger({ minimum: 1, maximum: 1_000_000, default: 1, description: 'Which page, from 1' }),
  perPage: defaultedInteger({
    minimum: 1,
    maximum: 100,
    default: 10,
    description: 'How many items a page has',
  }),
}

/** `q` of lists that are searched by a text of their items. */
export const searchIn = (field: 'name' | 'title') => ({
  q: Type.Optional(lineText(`Only those whose ${field} contains it, whatever its case`)),
})

/**
 * `sortBy` and `sortOrder` of lists.
 * @param usual what holds when `sortBy` is absent
 */
export function sorting<const K extends string[]>(keys: readonly [...K], usual: string) {
  return {
    sortBy: Type.Optional(oneOf(keys, `${usual} when absent`)),
    sortOrder: Type.Optional(
      oneOf(['asc', 'desc'], 'When absent, names and statuses ascend and times descend'),
    ),
  }
}

/** Path parameters that are one identifier named `id`. */
export function idParams(description: string) {
  return object({ id: id(description) })
}
