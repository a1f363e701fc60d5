import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTestDatabase, urlOf } from '../support/postgres.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

test('of two processes on one database one loads, and the other is not ready to collect until it may', {
  timeout: 120_000,
}, async () => {
  const database = await createTestDatabase({ migrated: false })
  // Processes on one database seal under one key.
  const MILLRACE_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const env = { DATABASE_URL: urlOf(database.owner), MILLRACE_ENCRYPTION_KEY }
  const services: Service[] = []
  try {
    const first = await startService({ env })
    services.push(first)
    let isReady = false
    const starting = startService({ env }).then((service) => {
      isReady = true
      services.push(service)
      return service
    })
    await sleep(6_000)
    expect(isReady).toBe(false)
    await first.stop()
    const second = await starting
    expect((await fetch(`${new URL(second.baseUrl).origin}/health/ready`)).status).toBe(200)
  } finally {
    for (const service of services) {
      await service.stop()
      removeData(service)
    }
    await database.close()
  }
})
