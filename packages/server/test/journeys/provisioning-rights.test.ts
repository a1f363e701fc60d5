import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { times } from '../support/long.ts'
import { openProvisioning, type ProvisioningApp } from '../support/provisioning.ts'
import { anyStep, walk } from '../support/rights-world.ts'

/** Every role, place in a team and way in was given by an administrator or by the identity provider. */

const runs = times(100, 20)
const walks = fc.array(anyStep, { minLength: 10, maxLength: 30, size: 'max' })

let app: ProvisioningApp

beforeAll(async () => {
  app = await openProvisioning()
})

afterAll(() => app.close())

test('whatever identity provider, administrator and attacker do, in whichever order', {
  timeout: 600_000 + runs * 5_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(walks, async (steps) => {
      expect(await walk(app, steps)).toEqual([])
    }),
    { numRuns: runs },
  )
})
