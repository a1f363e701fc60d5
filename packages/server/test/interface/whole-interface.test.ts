import { readFileSync } from 'node:fs'
import type { Operation } from '@millrace/contract/operation.ts'
import { allOperations } from '@millrace/contract/operations/all.ts'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** The operations that a file answers, by the generated table beside the contract: a route that is lost shows there. */
const table = readFileSync(new URL('../../../contract/src/operations/README.md', import.meta.url), 'utf8')
const answered = new Set(
  [...table.matchAll(/^\|[^|]*\| ([A-Z]+) \| `([^`]+)` \|.*-routes\.ts \|$/gm)].map(
    ([, method, url]) => `${method} ${url}`,
  ),
)
const isAnswered = ({ method, url }: Operation): boolean => answered.has(`${method} ${url}`)

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
  expect(documented.toSorted()).toEqual(
    allOperations
      .filter(isAnswered)
      .map(({ id }) => id)
      .toSorted(),
  )
  expect(answered.size).toBe(documented.length)
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
      expect(reply.status).toBe(isAnswered(operation) ? 401 : 404)
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
  ['readProfile', undefined, ''],
  ['updateProfile', { theme: 'dark' }, ''],
  ['listApplications', undefined, ''],
  ['listUsers', undefined, '?perPage=5'],
  ['listInvitations', undefined, ''],
  ['listRoles', undefined, ''],
  ['createRole', { name: 'Analyst', permissions: ['statistics:access'] }, ''],
  ['listTeams', undefined, '?search=every'],
  ['createTeam', { name: 'Marketing' }, ''],
  ['readCompany', undefined, ''],
  ['updateCompany', { timezone: 'Europe/Paris' }, ''],
  ['listLinkedAccounts', undefined, ''],
  ['listAuditEntries', undefined, '?outcome=success'],
  ['readScimConfig', undefined, ''],
  ['updateScimConfig', { enabled: true, roleMapping: [] }, ''],
  ['createScimToken', { label: 'Okta' }, ''],
  ['listScimTokens', undefined, ''],
] as const)(
  '%s answers what no cache keeps, as described (support/every-reply.ts)',
  async (id, body, search) => {
    const operation = allOperations.find((each) => each.id === id)
    if (!operation) throw new Error(`there is no operation ${id}`)
    const path = operation.url.replace(':id', service.datasourceId)
    const reply = await service.call(operation.method, `${path}${search}`, body)
    expect(reply.status).toBe(200)
    // The model has a tag, so that who has it asks whether it is the same.
    const kept = id === 'readStatisticsMeta' ? 'private, no-cache' : 'no-store'
    expect(reply.headers.get('cache-control')).toBe(kept)
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  },
)

test('the SCIM service answers at the address that its configuration names', async () => {
  await service.call('PATCH', '/v2/entities/scim/config', { enabled: true })
  const created = await service.call('POST', '/v2/entities/scim/tokens', { label: 'Directory' })
  const { data: made } = (await created.json()) as { data: { token: string } }
  const read = await service.call('GET', '/v2/entities/scim/config')
  const { data: config } = (await read.json()) as { data: { baseUrl: string } }
  expect(config.baseUrl).toBe(`${service.baseUrl}/scim/v2`)
  const headers = { authorization: `Bearer ${made.token}` }
  const users = await fetch(`${config.baseUrl}/Users`, { headers })
  expect(await users.json()).toMatchObject({
    totalResults: 1,
    Resources: [{ userName: service.admin.email }],
  })
  expect((await fetch(`${config.baseUrl}/Users`)).status).toBe(401)
  expect((await fetch(`${service.baseUrl}/datasources`, { headers })).status).toBe(401)
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
