/** Runs the scripts of package.json that check the source, two at a time, and prints the output of each. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** The longest first. */
const waiting = ['types', 'boundaries', 'lint', 'unused', 'documents:check']

async function run(script: string): Promise<void> {
  const began = performance.now()
  // One stream for both, in the order in which they were written.
  const child = spawn(`npm run -s ${script} 2>&1`, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const output = await text(child.stdout)
  const code = await ended
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(`${code === 0 ? 'passed' : 'FAILED'}  ${script} (${seconds} s)\n${output}`)
  if (code !== 0) process.exitCode = 1
}

async function runAll(): Promise<void> {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) await run(script)
}

await Promise.all([runAll(), runAll()])
