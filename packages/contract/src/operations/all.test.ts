import { Ajv, type AnySchema } from 'ajv'
import addFormatsModule from 'ajv-formats'
import { Compile } from 'typebox/compile'
import { expect, test } from 'vitest'
import { type ErrorRow, errorTable } from '../errors.ts'
import { type Operation, tags } from '../operation.ts'
import { patternMeanings } from '../resources/formats.ts'
import { unsupportedKeyword } from '../resources/query.ts'
import { allOperations } from './all.ts'

// The package is CommonJS: under Node's rules its default export is the module object.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

/** One for all operations: a schema that several of them have is compiled once. */
const ajv = new Ajv({ strict: true, strictTypes: true, strictTuples: true, allErrors: true })
addFormats(ajv)
ajv.addVocabulary([unsupportedKeyword, 'x-millrace-extension'])

const byNumber = allOperations.flatMap((operation) => (operation.number ? [operation] : []))

/** docs/interface.md, Endpoints, as it is written there. */
const documented: [number, string, string][] = [
  [1, 'POST', '/v2/auth/token'],
  [2, 'POST', '/v2/oauth/check-email'],
  [3, 'GET', '/v2/statistics/reports'],
  [4, 'POST', '/v2/statistics/query'],
  [5, 'GET', '/v2/statistics/meta'],
  [6, 'POST', '/v2/statistics/query/save'],
  [7, 'PATCH', '/v2/statistics/query/:id'],
  [8, 'GET', '/v2/statistics/experiments/:id'],
  [9, 'DELETE', '/v2/statistics/analytics/settings/tags/:tagId/values/:valueId'],
  [10, 'POST', '/v2/workflows'],
  [11, 'GET', '/v2/workflows/json-templates'],
  [12, 'GET', '/v2/workflows/usage/parameter-values'],
  [13, 'POST', '/v2/datasources/worker/:id/analyzer'],
  [14, 'DELETE', '/v2/linked-accounts/:id'],
  [15, 'POST', '/v2/entities/users/password-reset'],
  [16, 'DELETE', '/v2/entities/sso/config'],
  [17, 'GET', '/v2/entities/scim/config'],
  [18, 'PATCH', '/v2/entities/scim/config'],
  [19, 'POST', '/collect/:datasourceId/tracker'],
]

test('has each of the 19 documented operations once, at its address', () => {
  expect(byNumber.map(({ number, method, url }) => [number, method, url])).toEqual(documented)
})

test('keeps answers that show a secret from being compressed', () => {
  const shows = (schema: unknown, name = ''): boolean => {
    if (typeof schema !== 'object' || schema === null) return false
    const { type, description = '' } = schema as { type?: string; description?: string }
    if (/shown (?:only|this once|once)/.test(description)) return true
    if (/^(?:secret|token|password|recoveryCodes)$/.test(name) && (type === 'string' || type === 'array'))
      return true
    return Object.entries(schema).some(([key, each]) => shows(each, key))
  }
  const authenticated = allOperations.filter(({ scope }) => scope === 'authenticated')
  for (const { id, schema, ...operation } of authenticated) {
    const holdsSecret = 'holdsSecret' in operation
    expect({ id, holdsSecret }).toEqual({ id, holdsSecret: shows(schema.response[200]) })
  }
})

test('has unique ids, and unique addresses by method', () => {
  const ids = allOperations.map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)])
  const addresses = allOperations.map(({ method, url }) => `${method} ${url.replaceAll(/:\w+/g, ':x')}`)
  expect(addresses).toEqual([...new Set(addresses)])
})

test('needs a token for every operation under /v2 but tokens and sign-in', () => {
  const open = allOperations.filter(({ scope }) => scope === 'open').map(({ id }) => id)
  expect(open).toEqual([
    'createToken',
    'checkEmail',
    'revokeToken',
    'startSingleSignOn',
    'readServiceProviderMetadata',
    'consumeSamlResponse',
    'finishSingleSignOn',
    'confirmSingleSignOn',
  ])
  for (const { scope, url } of allOperations) {
    expect(scope === 'collector').toBe(/^\/(collect|r|v1)\//.test(url))
  }
})

test('every authenticated operation says who may call it', () => {
  for (const { scope, permission, access } of allOperations) {
    if (scope === 'authenticated') expect(permission ?? access).toBeDefined()
  }
})

test('the audit log gets its target from the path, the body, the caller or the company', () => {
  for (const { audit, url, schema, scope } of allOperations as readonly Operation[]) {
    if (!audit) continue
    expect(scope).toBe('authenticated')
    const { target, of, param = 'id', named } = audit
    // Where it is the caller or the company, the path names something else.
    const inPath = target !== undefined && of === undefined && url.split('/').includes(`:${param}`)
    const places = [of !== undefined, named !== undefined, inPath]
    if (audit.param !== undefined) expect(inPath).toBe(true)
    expect(places.filter(Boolean).length).toBeLessThanOrEqual(target === undefined ? 0 : 1)
    const body = schema.body as { properties?: Record<string, unknown> } | undefined
    if (named === undefined || url.split('/').includes(`:${named}`)) continue
    expect(Object.keys(body?.properties ?? {})).toContain(named)
  }
})

test.each(byNumber.map((operation) => [operation.number, operation] as const))(
  'operation %i needs what docs/interface.md says',
  (number, { permission }) => {
    const needed: Record<number, string> = {
      3: 'statistics access',
      4: 'statistics access',
      5: 'statistics access',
      6: 'statistics access',
      7: 'statistics access',
      8: 'statistics access',
      9: 'workflowSettings delete',
      10: 'workflow create',
      11: 'workflowSettings read',
      12: 'workflow read',
      13: 'datasource update',
      16: 'company update',
      17: 'company read',
      18: 'company update',
    }
    expect(permission && `${permission.resource} ${permission.action}`).toBe(needed[number ?? 0])
  },
)

interface Part {
  name: string
  schema: AnySchema
}

function partsOf({ schema, described }: Operation): Part[] {
  const parts: Part[] = []
  for (const [name, part] of Object.entries({ ...schema, ...described })) {
    if (name !== 'response' && part) parts.push({ name, schema: part as AnySchema })
  }
  for (const [status, reply] of Object.entries(schema.response)) {
    parts.push({ name: `response ${status}`, schema: reply as AnySchema })
  }
  return parts
}

test.each(allOperations.map((operation) => [operation.id, operation] as const))(
  '%s is complete: errors exist, schemas compile, parameters match the path, examples conform',
  (_id, operation) => {
    for (const name of operation.errors) expect((errorTable as Record<string, ErrorRow>)[name]).toBeDefined()
    expect(operation.errors).toEqual([...new Set(operation.errors)])
    expect(Object.keys(tags)).toContain(operation.tag)
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)

    for (const { schema } of partsOf(operation)) {
      ajv.compile(schema)
      Compile(schema as Parameters<typeof Compile>[0])
    }

    const inPath = [...operation.url.matchAll(/:(\w+)/g)].map(([, name]) => name)
    const params = (operation.schema.params ?? operation.described?.params) as
      | { properties: Record<string, unknown> }
      | undefined
    expect(Object.keys(params?.properties ?? {})).toEqual(inPath)

    const body = operation.schema.body ?? operation.described?.body
    if (body) {
      const accepts = ajv.compile(body as AnySchema)
      expect(operation.examples, 'a body has an example').toBeDefined()
      for (const { value } of Object.values(operation.examples ?? {})) {
        accepts(value)
        expect(accepts.errors).toBeNull()
      }
    }
    for (const [status, reply] of Object.entries(operation.replies ?? {})) {
      const schema = operation.schema.response[Number(status)] as
        | { properties?: { data?: AnySchema } }
        | undefined
      expect(schema, `reply ${status} has a schema`).toBeDefined()
      const data = ajv.compile((schema?.properties?.data ?? schema) as AnySchema)
      for (const { value } of Object.values(reply.examples ?? {})) {
        data(value)
        expect(data.errors).toBeNull()
      }
    }
  },
)

function* patternsIn(schema: unknown): Generator<string> {
  if (schema === null || typeof schema !== 'object') return
  if ('pattern' in schema && typeof schema.pattern === 'string') yield schema.pattern
  for (const part of Object.values(schema)) yield* patternsIn(part)
}

test('every pattern of a request has a message', () => {
  for (const { schema } of allOperations) {
    for (const pattern of patternsIn([schema.params, schema.querystring, schema.body])) {
      expect(patternMeanings.get(pattern), pattern).toBeDefined()
    }
  }
})

test('objects of requests under /v2 refuse unknown fields, tokens excepted', () => {
  for (const operation of allOperations) {
    if (!operation.url.startsWith('/v2/') || operation.number === 1) continue
    for (const part of [operation.schema.params, operation.schema.querystring, operation.schema.body]) {
      if (part) expect(part).toMatchObject({ type: 'object', additionalProperties: false })
    }
  }
})
