import { createClient } from '@millrace/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { removeData, startService } from '../support/running-service.ts'

test('calls go on while the service is killed and started again', async () => {
  const before = await startService()
  const { dataDirectory, baseUrl, clientId, admin } = before
  let service = before
  onTestFinished(async () => {
    await service.stop('SIGKILL')
    removeData({ dataDirectory })
  })
  const client = createClient({
    baseUrl,
    clientId,
    username: admin.email,
    password: admin.password,
    maxRetries: 100,
    timeoutMs: 120_000,
  })
  const user = await client.readProfile()
  const resourceGroupIds = user.resourceGroupIds
  await before.stop('SIGKILL')
  const names = ['Spring', 'Summer', 'Autumn']
  const calls = names.map((name) => client.createWorkflow({ body: { name, resourceGroupIds } }))
  const queried = client.query({ measures: ['events.count'] })
  const { port } = new URL(baseUrl)
  service = await startService({ dataDirectory, env: { MILLRACE_PORT: port } })
  expect((await Promise.all(calls)).map(({ name }) => name)).toEqual(names)
  expect((await queried).rows).toEqual([{ 'events.count': 0 }])
  const listed: string[] = []
  for await (const { name } of client.listWorkflows.all()) listed.push(name)
  expect(listed.toSorted()).toEqual(names.toSorted())
})
