import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach } from 'vitest'

/**
 * Set up before every test file: each reply of a server that a test builds is validated against the schemas of its
 * operation, and a violation fails the test that caused it.
 */
const violations: string[] = []

/** The violations since the last call. */
export const takeViolations = (): string[] => violations.splice(0)

subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  let watch: typeof import('./reply-check.ts').watchReply | undefined
  // Loaded with the first server: most test files build none.
  fastify.addHook('onReady', async () => {
    watch = (await import('./reply-check.ts')).watchReply
  })
  fastify.addHook('onRequest', (request, reply, done) => {
    watch?.(request, reply, (violation) => violations.push(violation))
    done()
  })
})

function failOnViolations(): void {
  const found = takeViolations()
  if (found.length > 0) throw new Error(`Replies do not match the contract:\n${found.join('\n')}`)
}

afterEach(failOnViolations)
afterAll(failOnViolations)
