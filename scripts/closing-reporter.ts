import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { seed } from '../packages/server/test/support/long.ts'

/** How the reason of a test begins that needs a server which CI does not have either. */
const elsewhere = 'not run here: '

/**
 * Closes a run with what was skipped and why, with what can only run elsewhere, with the first failure of what passed
 * only when it was tried again (MILLRACE_TEST_RETRY), with the seed of its cases, and with one line of counts, which it also writes to the file that MILLRACE_TEST_RECORD names. Where MILLRACE_TEST_FAIL_ON_SKIP is
 * set (CI) a skipped test fails the run: there every program that a test may need is installed, so nothing may be left
 * out unseen.
 */
export default class ClosingReporter implements Reporter {
  readonly #began = new Date()

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped: string[] = []
    const notHere: string[] = []
    const retried: string[] = []
    let passed = 0
    let failed = 0
    for (const module of modules) {
      failed += module.errors().length
      for (const test of module.children.allTests()) {
        const result = test.result()
        if (test.diagnostic()?.flaky) retried.push(`${test.fullName}: ${messageOf(result.errors?.[0])}`)
        if (result.state === 'passed') passed++
        else if (result.state === 'failed') failed++
        else {
          const reason = reasonOf(test)
          if (reason.startsWith(elsewhere))
            notHere.push(`${test.fullName}: ${reason.slice(elsewhere.length)}`)
          else skipped.push(`${test.fullName}: ${reason}`)
        }
      }
    }
    for (const line of notHere) console.log(`not run here  ${line}`)
    for (const line of skipped) console.log(`skipped  ${line}`)
    for (const line of retried) console.log(`passed when tried again  ${line}`)
    const counts = `${passed} passed, ${failed} failed, ${skipped.length} skipped, ${notHere.length} not run here, ${retried.length} tried again`
    console.log(`seed ${seed} (MILLRACE_TEST_SEED)\n${counts}`)
    const record = process.env.MILLRACE_TEST_RECORD
    if (record !== undefined) writeFileSync(record, recordOf(this.#began, counts))
    if (skipped.length > 0 && process.env.MILLRACE_TEST_FAIL_ON_SKIP) {
      console.error('Tests were skipped where none may be: install what they name.')
      process.exitCode = 1
    }
  }
}

/** With its causes: a property says which values failed, and why stands in what caused that. */
function messageOf(error: { readonly message?: string; readonly cause?: unknown } | undefined): string {
  const { message = 'no message', cause } = error ?? {}
  return typeof cause === 'object' && cause !== null ? `${message}\nbecause ${messageOf(cause)}` : message
}

function recordOf(began: Date, counts: string): string {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  const minutes = Math.round((Date.now() - began.getTime()) / 60_000)
  return `# The last run in full length

\`npm run test:long\` writes this file.

| began | commit | minutes | result |
|---|---|---|---|
| ${began.toISOString()} | ${commit} | ${minutes} | ${counts} |
`
}

function reasonOf(test: TestCase): string {
  const result = test.result()
  return (result.state === 'skipped' && result.note) || 'no reason given'
}
