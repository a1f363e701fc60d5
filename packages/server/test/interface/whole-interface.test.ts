import { allOperations } from '@millrace/contract/operations/all.ts'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import addFormatsModule from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeData, type Service, startService } from '../support/running-service.ts'

const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

/** What is answered today; everything else that the contract describes is not routed. */
const answered = [
  'addSingleSignOnDomain',
  'collectEvents',
  'consumeSamlResponse',
  'createDatasource',
  'createToken',
  'deleteSingleSignOn',
  'finishSingleSignOn',
  'listDatasourceLogs',
  'listDatasources',
  'listSingleSignOnCertificates',
  'listSingleSignOnDomains',
  'readDatasourceCounters',
  'readServiceProviderMetadata',
  'readSingleSignOn',
  'readStatisticsMeta',
  'removeSingleSignOnDomain',
  'replaceSingleSignOn',
  'retireSingleSignOnCertificate',
  'revokeToken',
  'rotateSingleSignOnCertificate',
  'runQuery',
  'startSingleSignOn',
  'updateSingleSignOn',
  'verifySingleSignOnDomain',
]

let service: Service
let document: { openapi: string; paths: Record<string, Record<string, { operationId?: string }>> }

beforeAll(async () => {
  service = await startService()
  const reply = await fetch(`${service.baseUrl}/openapi.json`)
  document = (await reply.json()) as typeof document
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  removeData(service)
})

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document) as never)
  expect(result).toMatchObject({ valid: true })
  expect(document.openapi).toMatch(/^3\.1\./)
})

test('the document has exactly what is answered', () => {
  const documented = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
  )
  expect(documented.toSorted()).toEqual(answered)
})

test.each(allOperations.filter(({ scope }) => scope === 'authenticated'))(
  '$id refuses a request without a valid token',
  async (operation) => {
    const path = operation.url.replaceAll(/:\w+/g, '0123456789abcdef01234567')
    for (const headers of [
      {},
      { authorization: 'Bearer' },
      { authorization: 'Basic eDp5' },
      { authorization: `Bearer ${'A'.repeat(43)}` },
    ]) {
      const reply = await fetch(`${service.baseUrl.replace(/\/v2$/, '')}${path}?access_token=x`, {
        method: operation.method,
        headers: { 'content-type': 'application/json', ...headers } as Record<string, string>,
        ...(operation.method === 'GET' ? {} : { body: '{}' }),
      })
      const body = (await reply.json()) as { status: string; code: number }
      expect(body.status).toBe('fail')
      expect(reply.status).toBe(answered.includes(operation.id) ? 401 : 404)
      if (reply.status === 401) expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  },
)

const query = { measures: ['events.count'], dimensions: ['events.name'], filters: [], timeDimensions: [] }

test.each([
  ['runQuery', query, ''],
  ['runQuery', query, '?format=csv'],
  ['readStatisticsMeta', undefined, ''],
  ['listDatasources', undefined, '?page=1&perPage=5'],
  ['createDatasource', { name: 'Second shop' }, ''],
  ['listDatasourceLogs', undefined, ''],
  ['readDatasourceCounters', undefined, ''],
] as const)('a reply of %s has the shape that is described', async (id, body, search) => {
  const operation = allOperations.find((each) => each.id === id)
  if (!operation) throw new Error(`there is no operation ${id}`)
  const path = operation.url.replace(':id', service.datasourceId)
  const reply = await service.call(operation.method, `${path}${search}`, body)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('cache-control')).toBe('no-store')
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats(ajv)
  const validate = ajv.compile(operation.schema.response[200] as object)
  const value: unknown = await reply.json()
  expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
})

test('pages and first page are served with a strict policy and need nothing from elsewhere', async () => {
  for (const path of ['/docs', '/']) {
    const reply = await fetch(`${service.baseUrl.replace(/\/v2$/, '')}${path}`, {
      headers: { accept: 'text/html' },
    })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
    expect(await reply.text()).not.toMatch(/(src|href)="https?:\/\/(?!127\.0\.0\.1)/)
  }
})

test("metrics are served in Prometheus' format and tell what the collector and the stores do", async () => {
  const text = await (await fetch(`${service.baseUrl.replace(/\/v2$/, '')}/metrics`)).text()
  for (const name of [
    'millrace_log_events',
    'millrace_child_postgres_up 1',
    'millrace_child_columnar_up 1',
    'millrace_collector_events_kept_total',
  ]) {
    expect(text).toContain(name)
  }
})
