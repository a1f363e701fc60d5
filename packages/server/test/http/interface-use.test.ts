import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { openTestService, type TestService } from '../support/service.ts'

let database: TestDatabase
let service: TestService
beforeAll(async () => {
  database = await createTestDatabase()
  service = await openTestService(database)
})
afterAll(async () => {
  await service.app.close()
  await database.close()
})

const json = { 'content-type': 'application/json' }

test.each([
  { method: 'GET', url: '/v2/datasources', counts: true },
  { method: 'POST', url: '/v2/statistics/query', counts: true },
  { method: 'GET', url: '/r/abcdef1234', counts: true },
  { method: 'POST', url: '/collect/65f0c0ffee5ca1ab1e0ddba2/tracker', counts: false },
  { method: 'POST', url: '/v1/batch', counts: false },
  { method: 'GET', url: '/t.js', counts: false },
  { method: 'GET', url: '/health/ready', counts: false },
] as const)('$method $url counts as use of the interface: $counts', async ({ method, url, counts }) => {
  const note = vi.spyOn(service.context.interfaceUse, 'note')
  await service.app.inject({ method, url, headers: json, ...(method === 'POST' && { payload: '{}' }) })
  expect(note.mock.calls.length > 0).toBe(counts)
  note.mockRestore()
})
