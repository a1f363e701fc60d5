/**
 * Whether the time of a refusal tells if there is such a user. Run by hand, on an idle machine:
 *
 *   node packages/server/test/by-hand/sign-in-timing.ts [samples of each kind, default 1000]
 *
 * Signs in with a wrong password, taking a person who exists and an address that nobody has in random order,
 * and prints how well the time alone tells them apart: the area under the ROC curve, 0.5 being not at all.
 */
import { styleText } from 'node:util'
import { createPasswords } from '../../src/platform/passwords.ts'
import { createAuth } from '../support/auth.ts'
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
const boundless = { free: 1e9, drainSeconds: 1, longestDelaySeconds: 1 }
const auth = await createAuth(relational, {
  passwords: createPasswords(),
  policy: { accountFromAddress: boundless, account: boundless, address: boundless, everything: boundless },
})
await auth.addUser('known@example.com')

const names = ['known', 'unknown'] as const
const times: Record<(typeof names)[number], number[]> = { known: [], unknown: [] }
const bodies = new Set<string>()
for (let i = -20; i < samples; i++) {
  const order = Math.random() < 0.5 ? names : names.toReversed()
  for (const name of order) {
    const started = performance.now()
    const reply = await auth.signIn(`${name}@example.com`, 'wrong password')
    const elapsed = performance.now() - started
    bodies.add(`${reply.statusCode} ${reply.body.replace(/"datetime":"[^"]+"/, '')}`)
    if (i >= 0) times[name].push(elapsed)
  }
}
await auth.app.close()
await relational.close()
await server.stop()
clearInterval(alive)

const area = areaUnderCurve(times.known, times.unknown)
const good = Math.abs(area - 0.5) <= tolerance && bodies.size === 1
console.log(`samples of each kind  ${samples}`)
console.log(`different replies     ${bodies.size} (1 is right)`)
console.log(
  `median ms             known ${median(times.known).toFixed(2)}, unknown ${median(times.unknown).toFixed(2)}`,
)
console.log(
  `area under the curve  ${area.toFixed(3)} (right within ${0.5 - tolerance} to ${0.5 + tolerance})`,
)
console.log(good ? styleText('green', 'cannot be told apart') : styleText('red', 'CAN BE TOLD APART'))
process.exitCode = good ? 0 : 1
