import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProvisioning, type ProvisioningApp } from '../support/provisioning.ts'
import { anyStep, walk } from '../support/rights-world.ts'

/** Every role, place in a team and way in was given by an administrator or by the identity provider. */

/** More walks, or those of one seed again: a failure prints its own. */
const { MILLRACE_RIGHTS_RUNS: runs, MILLRACE_RIGHTS_SEED: seed } = process.env
const walks = fc.array(anyStep, { minLength: 10, maxLength: 30, size: 'max' })

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

test('whatever identity provider, administrator and attacker do, in whichever order', {
  timeout: Math.max(300_000, Number(runs ?? 0) * 5_000),
}, async () => {
  await fc.assert(
    fc.asyncProperty(walks, async (steps) => {
      expect(await walk(app, steps)).toEqual([])
    }),
    {
      ...(runs === undefined ? { numRuns: 100, interruptAfterTimeLimit: 50_000 } : { numRuns: Number(runs) }),
      ...(seed !== undefined && { seed: Number(seed) }),
    },
  )
})
