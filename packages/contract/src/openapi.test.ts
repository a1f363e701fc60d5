import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { expect, test } from 'vitest'
import type { JsonObject } from './openapi/json-schema.ts'
import { openApiDocument } from './openapi.ts'
import { allOperations } from './operations/all.ts'
import { createToken } from './operations/auth.ts'
import { runQuery } from './operations/statistics.ts'
import { unsupportedKeyword } from './resources/query.ts'

// The package is CommonJS: under Node's rules its default export is the module object.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

const options = {
  version: '1.2.3',
  baseUrl: 'https://millrace.example/v2',
  collectorUrl: 'https://collect.example',
}
const document = openApiDocument(allOperations, options)

function at(path: string, method: string): JsonObject {
  return document.paths[path]?.[method] as JsonObject
}

/** Every object in the document, from the outside in. */
function* objectsIn(value: unknown): Generator<JsonObject> {
  if (value === null || typeof value !== 'object') return
  if (!Array.isArray(value)) yield value as JsonObject
  for (const each of Object.values(value)) yield* objectsIn(each)
}

function resolve(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[key], document)
}

test('is a valid OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  expect(result).toMatchObject({ valid: true })
  const broken = structuredClone(document)
  broken.paths['/auth/token'] = { post: { responses: { 200: {} } } }
  expect(await new Validator().validate(JSON.parse(JSON.stringify(broken)))).toMatchObject({ valid: false })
})

test('refers to nothing that is not there', () => {
  for (const { $ref } of objectsIn(document)) {
    if (typeof $ref === 'string') expect(resolve($ref), $ref).toBeDefined()
  }
})

test('holds schemas of JSON Schema 2020-12, and every example conforms to its schema', () => {
  const ajv = new Ajv2020({ strict: true, strictTypes: true, allowUnionTypes: true })
  addFormats(ajv)
  ajv.addVocabulary([unsupportedKeyword, 'x-millrace-extension'])
  const moved = (part: unknown) =>
    JSON.parse(JSON.stringify(part).replaceAll('"#/components/schemas/', '"document#/$defs/'))
  ajv.addSchema({ $id: 'document', $defs: moved(document.components.schemas) })
  // By their texts: most operations have some of the same schemas.
  const compiled = new Map<string, ValidateFunction>()
  const compile = (schema: unknown): ValidateFunction => {
    const text = JSON.stringify(schema)
    const known = compiled.get(text) ?? ajv.compile(moved(schema))
    compiled.set(text, known)
    return known
  }
  let checked = 0
  for (const { schema, examples, example } of objectsIn(document.paths)) {
    if (schema === undefined) continue
    const accepts = compile(schema)
    const values = Object.values((examples ?? {}) as JsonObject).map((each) => {
      const { $ref } = each as JsonObject
      return (($ref ? resolve(String($ref)) : each) as JsonObject).value
    })
    for (const value of example === undefined ? values : [...values, example]) {
      accepts(value)
      expect(accepts.errors, JSON.stringify(value)).toBeNull()
      checked++
    }
  }
  expect(checked).toBeGreaterThan(150)
})

test('is plain JSON: what is sent is what the validator saw', () => {
  expect(JSON.parse(JSON.stringify(document))).toEqual(document)
})

test('has one path per operation, relative to the base address', () => {
  const found = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => key !== 'servers')
      .map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(found.sort()).toEqual(
    allOperations
      .map(({ method, url }) => `${method} ${url.replace(/^\/v2/, '').replaceAll(/:(\w+)/g, '{$1}')}`)
      .sort(),
  )
  expect(document.servers).toMatchObject([{ url: 'https://millrace.example/v2' }])
  expect(document.paths['/collect/{datasourceId}/tracker']?.servers).toEqual([
    { url: 'https://collect.example' },
  ])
})

test('describes only the operations that it is given', () => {
  const small = openApiDocument([createToken, runQuery], options)
  expect(Object.keys(small.paths)).toEqual(['/auth/token', '/statistics/query'])
  expect(small.tags).toMatchObject([{ name: 'Authentication' }, { name: 'Statistics' }])
  expect(Object.keys(small.components.schemas)).not.toContain('Workflow')
})

test('marks documented operations by number and the others as extensions', () => {
  const operations = Object.values(document.paths).flatMap((item) =>
    Object.entries(item).flatMap(([key, value]) => (key === 'servers' ? [] : [value as JsonObject])),
  )
  const numbers = operations.flatMap((operation) => operation['x-millrace-number'] ?? [])
  expect(numbers).toHaveLength(19)
  for (const operation of operations) {
    expect(operation['x-millrace-extension'] === true).toBe(operation['x-millrace-number'] === undefined)
  }
})

test('protects operations by the OAuth 2.0 password flow of the token address, without scopes', () => {
  expect(document.components.securitySchemes).toMatchObject({
    oauth2: {
      type: 'oauth2',
      flows: {
        password: {
          tokenUrl: 'https://millrace.example/v2/auth/token',
          refreshUrl: 'https://millrace.example/v2/auth/token',
          scopes: {},
        },
      },
    },
  })
  expect(at('/statistics/query', 'post').security).toEqual([{ oauth2: [] }])
  expect(at('/auth/token', 'post').security).toEqual([])
  expect(at('/collect/{datasourceId}/tracker', 'post').security).toEqual([])
})

test('lists the content types of bodies and replies', () => {
  expect(at('/auth/token', 'post').requestBody).toMatchObject({
    content: { 'application/json': {}, 'application/x-www-form-urlencoded': {} },
  })
  expect(at('/statistics/query', 'post').responses).toMatchObject({
    200: { content: { 'application/json': {}, 'text/csv': {}, 'application/x-ndjson': {} } },
  })
  expect(at('/oauth/check-email', 'post').responses).toMatchObject({
    200: { content: { 'text/html': {} } },
    204: { headers: { Location: {} } },
  })
  expect((at('/oauth/check-email', 'post').responses as JsonObject)['204']).not.toHaveProperty('content')
})

test('shows the failures of an operation by status, each as the fail envelope that is sent', () => {
  const responses = at('/statistics/experiments/{id}', 'get').responses as JsonObject
  expect(Object.keys(responses)).toEqual(['200', '400', '401', '403', '404', '500', '503'])
  expect(responses['404']).toMatchObject({
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ExperimentNotFoundFailure' },
        examples: { experimentNotFound: { $ref: '#/components/examples/experimentNotFound' } },
      },
    },
  })
  expect(document.components.examples.experimentNotFound).toMatchObject({
    value: {
      status: 'fail',
      version: '1.2.3',
      code: 404,
      error_code: 9000,
      message: 'Unable to find experiment',
      data: { id: '65f0c0ffee5ca1ab1e0ddba1' },
    },
  })
})

test('describes parameters with their bounds', () => {
  expect(at('/workflows/json-templates', 'get').parameters).toEqual([
    {
      name: 'page',
      in: 'query',
      required: false,
      description: 'Which page, from 1',
      schema: { type: 'integer', minimum: 1, maximum: 1_000_000, default: 1 },
    },
    {
      name: 'perPage',
      in: 'query',
      required: false,
      description: 'How many items a page has',
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
    },
    expect.objectContaining({ name: 'workflowId' }),
  ])
})
