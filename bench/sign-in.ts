/**
 * What signing in costs, and what it does to the collector: the password grant alone, the collector's p99 at an
 * even rate with and without 500 people who sign in at once, and the bearer check from cache.
 * Run: `npm run bench -- sign-in [--rate 1000] [--seconds 12] [--rounds 3] [--people 500]`
 */
import { parseArgs } from 'node:util'
import { createAccessCache } from '../packages/server/src/features/identity/sessions/access/access-cache.ts'
import { createPrincipal } from '../packages/server/src/features/identity/sessions/principal.ts'
import { newSecret } from '../packages/server/src/platform/crypto/secrets.ts'
import { removeData, type Service, startService } from '../packages/server/test/support/running-service.ts'
import { median, printTable, type Row } from './support/machine.ts'
import { paced } from './support/paced.ts'
import { runSender } from './support/sender.ts'

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '12' },
    rounds: { type: 'string', default: '3' },
    people: { type: 'string', default: '500' },
  },
})
const [rate, seconds, rounds, people] = [values.rate, values.seconds, values.rounds, values.people].map(
  Number,
) as [number, number, number, number]

const signIn = (service: Service): Promise<Response> =>
  fetch(`${service.baseUrl}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'password',
      client_id: service.clientId,
      username: service.admin.email,
      password: service.admin.password,
    }),
  })

/** @returns how many sign-ins had to wait before all were signed in, and after how many milliseconds all were */
function signInAll({ baseUrl, clientId, admin }: Service): Promise<{ waits: number; ms: number }> {
  const { port, pathname } = new URL(`${baseUrl}/auth/token`)
  return runSender('./crowd.lua', [port, pathname, clientId, admin.email, admin.password, people])
}

/** Microseconds of one check of a token that is known, as the guard makes it. */
async function measureBearerCheck(): Promise<number> {
  const principal = createPrincipal({
    userId: 'a'.repeat(24),
    email: 'ada@example.com',
    roleId: 'b'.repeat(24),
    companyId: 'c'.repeat(24),
    clientId: 'd'.repeat(24),
    tokenId: 'e'.repeat(24),
    teamIds: [],
    permissions: [],
  })
  const cache = createAccessCache(async () => [{ principal, remainingMs: 3_600_000 }], { now: () => 0 })
  const tokens = Array.from({ length: 1000 }, () => newSecret())
  for (const token of tokens) await cache.find(token)
  const count = 200_000
  const started = performance.now()
  for (let i = 0; i < count; i++) await cache.find(tokens[i % tokens.length] ?? '')
  return ((performance.now() - started) * 1000) / count
}

const service = await startService()
const rows: Row[] = []
try {
  for (let i = 0; i < 20; i++) await (await signIn(service)).arrayBuffer()
  const times: number[] = []
  for (let i = 0; i < 200; i++) {
    const started = performance.now()
    const reply = await signIn(service)
    await reply.arrayBuffer()
    if (reply.status !== 200) throw new Error(`a sign-in was answered ${reply.status}`)
    times.push(performance.now() - started)
  }
  rows.push(['password grant, median of 200', `${median(times).toFixed(1)} ms`, '', '< 150 ms'])

  await Promise.all([paced(service, rate, 3), signInAll(service)])
  const calm: number[] = []
  const during: number[] = []
  const crowds: { waits: number; ms: number }[] = []
  for (let round = 0; round < rounds; round++) {
    calm.push((await paced(service, rate, seconds)).p99)
    const driving = paced(service, rate, seconds)
    crowds.push(await signInAll(service))
    during.push((await driving).p99)
  }
  const ratios = during.map((p99, i) => p99 / (calm[i] ?? Number.NaN))
  const inAfter = median(crowds.map(({ ms }) => ms)) / 1000
  const waits = median(crowds.map((crowd) => crowd.waits))
  rows.push([`collector p99 at ${rate} events/s, alone`, `${median(calm)} ms`, '1.00', ''])
  rows.push([
    `the same while ${people} people sign in at once (all signed in after ${inAfter.toFixed(1)} s, ${waits} had to wait)`,
    `${median(during)} ms`,
    `${median(ratios).toFixed(2)} of alone`,
    '<= 1.20',
  ])
  rows.push(['bearer check from cache', `${(await measureBearerCheck()).toFixed(1)} µs`, '', '< 100 µs'])
  printTable('Sign-in', rows)
} finally {
  await service.stop()
  removeData(service)
}
