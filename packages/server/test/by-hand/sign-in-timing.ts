/**
 * Whether the bytes or the time of a refusal disclose whether a user exists. Run by hand, on an idle machine:
 *
 *   node packages/server/test/by-hand/sign-in-timing.ts [samples of each kind, default 1000]
 *
 * Signs in with a wrong password as a person who exists, as nobody, as a user who is deactivated, one who is invited
 * and one who must use single sign-on (those three with their right password where they have one), in
 * random order, and prints how well the time alone tells each from the first: the area under the ROC curve,
 * 0.5 being not at all.
 */
import { styleText } from 'node:util'
import { createPasswords } from '../../src/platform/crypto/passwords.ts'
import { requireSingleSignOn } from '../support/accounts.ts'
import { createAuth, goodPassword } from '../support/auth.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { launchServer, serverVariable } from '../support/postgres-server.ts'

const samples = Number(process.argv[2] ?? 1000)
const tolerance = 0.05

/** The chance that a sample of `a` is above one of `b`, equal ones counting half (Mann and Whitney). */
function areaUnderCurve(a: readonly number[], b: readonly number[]): number {
  const sorted = b.toSorted((x, y) => x - y)
  const below = (value: number): number => {
    let from = 0
    let to = sorted.length
    while (from < to) {
      const middle = (from + to) >> 1
      if ((sorted[middle] ?? 0) < value) from = middle + 1
      else to = middle
    }
    return from
  }
  return a.reduce((sum, value) => sum + below(value), 0) / (a.length * b.length)
}

const median = (values: readonly number[]): number =>
  values.toSorted((x, y) => x - y)[values.length >> 1] ?? Number.NaN

const server = launchServer()
process.env[serverVariable] = server.socket
// Nothing else keeps this process alive while the server starts.
const alive = setInterval(() => {}, 1000)
const relational = await createTestDatabase()
const boundless = { free: 1e9, drainSeconds: 1, maxDelaySeconds: 1 }
const auth = await createAuth(relational, {
  passwords: createPasswords(),
  throttlePolicy: {
    accountFromAddress: boundless,
    account: boundless,
    address: boundless,
    site: boundless,
    everything: boundless,
  },
})
const domains = { sso: 'corp.example' } as const
for (const name of ['known', 'disabled', 'invited']) await auth.addUser(`${name}@example.com`)
await auth.addUser(`sso@${domains.sso}`)
await auth.accounts.disableUser('disabled@example.com')
await relational.pool.query(
  "update users set status = 'invited', password_hash = null where email = 'invited@example.com'",
)
await requireSingleSignOn(relational, domains.sso)

const kinds = [
  { name: 'known', username: 'known@example.com', password: 'wrong password' },
  { name: 'unknown', username: 'unknown@example.com', password: goodPassword },
  { name: 'disabled', username: 'disabled@example.com', password: goodPassword },
  { name: 'invited', username: 'invited@example.com', password: goodPassword },
  { name: 'sso', username: `sso@${domains.sso}`, password: goodPassword },
] as const
const times = new Map<string, number[]>(kinds.map(({ name }) => [name, []]))
const bodies = new Set<string>()
for (let i = -20; i < samples; i++) {
  for (const { name, username, password } of kinds.toSorted(() => Math.random() - 0.5)) {
    const started = performance.now()
    const reply = await auth.signIn(username, password)
    const elapsed = performance.now() - started
    bodies.add(`${reply.statusCode} ${reply.body.replace(/"datetime":"[^"]+"/, '')}`)
    if (i >= 0) times.get(name)?.push(elapsed)
  }
}
await auth.app.close()
await relational.close()
await server.stop()
clearInterval(alive)

console.log(`samples of each kind  ${samples}`)
console.log(`different replies     ${bodies.size} (1 is right)`)
const known = times.get('known') ?? []
let good = bodies.size === 1
for (const { name } of kinds) {
  const taken = times.get(name) ?? []
  const area = areaUnderCurve(known, taken)
  good &&= Math.abs(area - 0.5) <= tolerance
  console.log(
    `${name.padEnd(10)} median ${median(taken).toFixed(2)} ms, area under the curve ${area.toFixed(3)}`,
  )
}
console.log(`an area is right within ${0.5 - tolerance} to ${0.5 + tolerance}`)
console.log(good ? styleText('green', 'cannot be told apart') : styleText('red', 'CAN BE TOLD APART'))
process.exitCode = good ? 0 : 1
