import { defineConfig } from 'vitest/config'
import ClosingReporter from './scripts/closing-reporter.ts'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'bench/**/*.test.ts'],
    setupFiles: [
      'packages/server/test/support/every-reply.ts',
      'packages/server/test/support/cost.ts',
      'packages/server/test/support/generated-cases.ts',
      'packages/server/test/support/compile-cache.ts',
    ],
    globalSetup: ['packages/server/test/support/postgres-server.ts'],
    reporters: ['default', new ClosingReporter()],
    // Only to end what hangs, and with them what waits for a condition: a busy machine takes many times as long as an
    // idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 250_000 } },
    // A long run is not refused for one test that a busy machine upset: the closing lines name it instead.
    retry: Number(process.env.MILLRACE_TEST_RETRY ?? 0),
    // Two cores carry PostgreSQL, the columnar engine and the tests: more workers only wait for each other.
    maxWorkers: 2,
    // Files of a worker share its modules, which hold no state: importing the server for each file took as long as
    // many of its tests.
    isolate: false,
    // As in production Node.js itself imports and strips: rewriting each module took a fifth of a run, and what is
    // rewritten runs slower.
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
})
