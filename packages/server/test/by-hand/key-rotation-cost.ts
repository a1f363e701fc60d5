/**
 * What rotating the key costs, and what a service beside it feels. Run by hand, on an idle machine:
 *
 *   node packages/server/test/by-hand/key-rotation-cost.ts [secrets, default 100000]
 *
 * Fills a new service with sealed secrets, half addresses of linked accounts and half mails that wait, puts a new
 * key before the old one, and runs `key rotate` while requests go on: one of an administrator who reads the
 * company, and one event, each again 5 ms after its answer. Prints how long the command took, the latency of both
 * before and meanwhile, and whether the service starts with the new key alone.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { targetContext } from '../../src/features/linked-accounts/linked-account-store.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { newId } from '../../src/platform/ids.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { embeddedAddresses } from '../../src/platform/stores/embedded-postgres.ts'
import { openRelational } from '../../src/platform/stores/relational.ts'
import { removeData, type Service, startService } from '../support/running-service.ts'

const count = Number(process.argv[2] ?? 100_000)
const insertedAtOnce = 1_000
const [old, present] = [randomBytes(32), randomBytes(32)]
const environment = (...keys: readonly Buffer[]) => ({
  MILLRACE_ENCRYPTION_KEY: keys.map((key) => key.toString('base64')).join(','),
})

async function fill({ dataDirectory, companyId, admin }: Service): Promise<void> {
  const { application } = embeddedAddresses(join(dataDirectory, 'run'))
  const { pool, close } = openRelational({ address: application, logger: silentLogger })
  const box = createSecretBox([old])
  const target = JSON.stringify({ url: `https://hooks.slack.com/services/${'x'.repeat(60)}` })
  const mail = JSON.stringify({ subject: 'Your link', text: 'x'.repeat(700) })
  for (let done = 0; done < count; done += 2 * insertedAtOnce) {
    const ids = Array.from({ length: insertedAtOnce }, newId)
    await pool.query(
      `insert into linked_accounts (id, company_id, user_id, provider, name, host, sealed_target)
       select given.id, $1, users.id, 'slack', 'Slack', 'hooks.slack.com', given.secret
       from users, unnest($3::text[], $4::bytea[]) as given (id, secret) where users.email = $2`,
      [companyId, admin.email, ids, ids.map((id) => box.seal(target, targetContext(id)))],
    )
    await pool.query(
      `insert into outgoing_mails (id, recipient, sealed_content, due_at)
       select id, 'ada@example.com', secret, now() + interval '1 year'
       from unnest($1::text[], $2::bytea[]) as given (id, secret)`,
      [ids, ids.map((id) => box.seal(mail, `mail:${id}`))],
    )
  }
  await close()
}

/** Milliseconds of each request, one after the other, until the work is done. */
async function latencies(send: () => Promise<Response>, work: Promise<unknown>): Promise<number[]> {
  const found: number[] = []
  let isDone = false
  void work.then(() => {
    isDone = true
  })
  while (!isDone) {
    const began = performance.now()
    const reply = await send()
    await reply.arrayBuffer()
    if (reply.status !== 200) throw new Error(`the service answered ${reply.status}`)
    found.push(performance.now() - began)
    await sleep(5)
  }
  return found
}

async function observe(service: Service, work: Promise<unknown>, when: string): Promise<void> {
  const event = () =>
    JSON.stringify({
      key: service.companyId,
      name: 'page-view',
      url: 'https://shop.example/',
      tmpId: 't',
      data: {},
      eventId: newId(),
      v: 1,
    })
  const headers = { 'content-type': 'application/json' }
  const [reads, events] = await Promise.all([
    latencies(() => service.call('GET', '/v2/entities/company'), work),
    latencies(() => fetch(service.trackerUrl, { method: 'POST', headers, body: event() }), work),
  ])
  const at = (values: number[], share: number) =>
    (values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN).toFixed(1)
  for (const [what, values] of [
    ['read the company', reads],
    ['send an event', events],
  ] as const)
    process.stdout.write(
      `${when}: ${what}: ${values.length} requests, p50 ${at(values, 0.5)} ms, p99 ${at(values, 0.99)} ms, longest ${at(values, 0.99999)} ms\n`,
    )
}

const first = await startService({ env: environment(old) })
const { dataDirectory } = first
await fill(first)
await first.stop()
const both = await startService({ dataDirectory, env: environment(present, old) })
await sleep(5_000)
await observe(both, sleep(10_000), 'before')
const began = performance.now()
const resealing = both.operate('key', 'rotate').then((output) => {
  process.stdout.write(`${output}key rotate took ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
})
await observe(both, resealing, 'meanwhile')
await both.stop()
const last = await startService({ dataDirectory, env: environment(present) })
process.stdout.write(`with the new key alone it is ready after ${Math.round(last.readyAfter)} ms\n`)
await last.stop()
removeData(last)
