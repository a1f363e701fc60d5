/**
 * `npm run bench -- NAME [options]` runs one benchmark by its name; without a name it lists them.
 * `npm run bench -- all [--quick]` runs those that the targets of RESULTS.md name, one after the other.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const directory = new URL('.', import.meta.url)
const names = readdirSync(directory)
  .filter((name) => name.endsWith('.ts') && name !== 'run.ts' && !name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -3))
const [, , name = '', ...options] = process.argv

/** Each a benchmark with its options, in full and quick. */
function allOf(data: string, isQuick: boolean): readonly (readonly [name: string, ...options: string[]])[] {
  const pick = (full: string, quick: string) => (isQuick ? quick : full)
  const events = ['--events', pick('5000000', '2000000')]
  const rounds = ['--rounds', pick('5', '2')]
  return [
    ['collector', '--seconds', pick('10', '4'), '--rounds', pick('3', '1')],
    ['runner', '--seconds', pick('10', '4'), '--rounds', pick('3', '1')],
    ['loading', pick('10', '1'), pick('5', '2'), pick('1000,15000,200000,600000', '15000,200000')],
    ['statistics', ...events, '--orders', '1', '--data', data, ...rounds],
    ['explorations', ...events, '--data', data, ...rounds],
    ['experiments', ...events, ...rounds],
    ['year', '--events', pick('100000000', '10000000'), ...rounds],
    ['start', '--rounds', pick('3', '1'), '--idle', pick('60', '10'), '--minutes', pick('10', '2')],
  ]
}

function runAll(isQuick: boolean): boolean {
  const data = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  try {
    const failed = allOf(data, isQuick).filter(([name, ...rest]) => {
      const script = new URL(`${name}.ts`, directory).pathname
      return spawnSync(process.execPath, [script, ...rest], { stdio: 'inherit' }).status !== 0
    })
    for (const [name] of failed) console.error(`The benchmark ${name} failed`)
    return failed.length === 0
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

if (names.includes(name)) {
  process.argv.splice(2, 1)
  await import(new URL(`${name}.ts`, directory).href)
} else if (name === 'all' && options.every((option) => option === '--quick')) {
  process.exitCode = runAll(options.length > 0) ? 0 : 1
} else {
  console.error(`Benchmarks: all [--quick], ${names.join(', ')}`)
  process.exitCode = 1
}
