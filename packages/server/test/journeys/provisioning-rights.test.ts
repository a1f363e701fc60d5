import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProvisioning, type ProvisioningApp } from '../support/provisioning.ts'
import { anyStep, walk } from '../support/rights-world.ts'

/** Nobody has a role, a place in a team or a way in that neither an administrator nor the identity provider gave. */

const numRuns = Number(process.env.MILLRACE_RIGHTS_RUNS ?? 60)

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

test(
  'whatever identity provider, administrator and attacker do in whichever order',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 30, size: 'max' }), async (steps) => {
        expect(await walk(app, steps)).toEqual([])
      }),
      { numRuns },
    )
  },
  Math.max(300_000, numRuns * 5_000),
)
