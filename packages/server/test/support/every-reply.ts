import { afterAll, afterEach } from 'vitest'
import { takeViolations } from './reply-watch.ts'

/** Set up before every test file: a reply that does not match the contract fails the test that caused it. */
async function failOnViolations(): Promise<void> {
  const found = await takeViolations()
  if (found.length > 0) throw new Error(`Replies do not match the contract:\n${found.join('\n')}`)
}

afterEach(failOnViolations)
afterAll(failOnViolations)
