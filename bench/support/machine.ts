import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'

/** One line that says where and of what a figure was measured. */
export function machineLine(): string {
  const [cpu] = cpus()
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} x ${cpu?.model.trim()}, ${memory} GiB, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, commit ${commit}`
}

/** Middle value; of an even number the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

export type Row = readonly [what: string, figure: string, ratio: string, target: string]

/** A Markdown table of what was measured, ready for bench/RESULTS.md. */
export function printTable(title: string, rows: readonly Row[]): void {
  console.log(`\n## ${title}\n${machineLine()}\n`)
  console.log('| what | figure | ratio | target |\n|---|---|---|---|')
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}
