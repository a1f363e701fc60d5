/** `npm run bench -- NAME [options]`: runs one benchmark by its name; without a name it lists them. */
import { readdirSync } from 'node:fs'

const directory = new URL('.', import.meta.url)
const names = readdirSync(directory)
  .filter((name) => name.endsWith('.ts') && name !== 'run.ts' && !name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -3))
const [, , name = ''] = process.argv
if (names.includes(name)) {
  process.argv.splice(2, 1)
  await import(new URL(`${name}.ts`, directory).href)
} else {
  console.error(`Benchmarks: ${names.join(', ')}`)
  process.exitCode = 1
}
