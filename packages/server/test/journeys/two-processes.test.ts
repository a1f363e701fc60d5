import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { createTestDatabase, urlOf } from '../support/postgres.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('of two processes on one database one loads, and the other is not ready to collect until it may', async () => {
  const database = await createTestDatabase({ migrated: false })
  // Processes on one database seal under one key.
  const MILLRACE_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const env = { DATABASE_URL: urlOf(database.owner), MILLRACE_ENCRYPTION_KEY }
  const services: Service[] = []
  try {
    const first = await startService({ env })
    services.push(first)
    const port = await freePort()
    const starting = startService({ env: { ...env, MILLRACE_PORT: String(port) } })
    const ready = async () => {
      const reply = await fetch(`http://127.0.0.1:${port}/health/ready`)
      return { status: reply.status, body: await reply.text() }
    }
    const waiting = expect.stringContaining('another process on this database loads events')
    await expect
      .poll(() => ready().catch(() => 'does not listen yet'))
      .toEqual({ status: 503, body: waiting })
    await first.stop()
    services.push(await starting)
    expect((await ready()).status).toBe(200)
  } finally {
    for (const service of services) {
      await service.stop()
      removeData(service)
    }
    await database.close()
  }
})
