/**
 * Writes the generated tables of README.md and ARCHITECTURE.md; with `--check` it only says whether they
 * are true, and whether what comments cite and pages name exists. A table stands between `<!-- begin NAME -->` and
 * `<!-- end NAME -->`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { allOperations } from '../packages/contract/src/operations/all.ts'
import { describePermission } from '../packages/contract/src/permissions.ts'
import { variables } from '../packages/server/src/platform/config/env.ts'
import { brokenCitations, missingFiles } from './citations.ts'

const root = new URL('../', import.meta.url)
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function configurationTable(): string {
  const rows = Object.entries<{ description: string; fallback?: string; secret?: true }>(variables).map(
    ([name, { description, fallback, secret }]) =>
      `| \`${name}\` | ${fallback === undefined ? '' : `\`${fallback}\``} | ${cell(description)}${secret ? ` Or \`${name}_FILE\`.` : ''} |`,
  )
  return ['| variable | default | what it is |', '|---|---|---|', ...rows].join('\n')
}

/** Where an operation's shapes are described: the file that exports it. */
function contractFiles(): Map<string, string> {
  const directory = new URL('packages/contract/src/operations/', root)
  const files = new Map<string, string>()
  for (const name of readdirSync(directory)) {
    if (name === 'all.ts' || !name.endsWith('.ts') || name.endsWith('.test.ts')) continue
    for (const found of readFileSync(new URL(name, directory), 'utf8').matchAll(
      /^export const (\w+) = \{$/gm,
    )) {
      files.set(found[1] ?? '', `operations/${name}`)
    }
  }
  return files
}

/** Where an operation is answered: the server file that routes it, or nothing while it is only described. */
function routeFiles(): Map<string, string> {
  const source = new URL('packages/server/src/', root)
  const files = new Map<string, string>()
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('-routes.ts')) continue
    for (const found of readFileSync(new URL(name, source), 'utf8').matchAll(/\.\.\.(\w+),/g))
      files.set(found[1] ?? '', name)
  }
  return files
}

function operationsTable(): string {
  const contract = contractFiles()
  const routes = routeFiles()
  const rows = allOperations.map((operation) => {
    const needs =
      operation.access ?? (operation.permission ? describePermission(operation.permission) : operation.scope)
    const routed = routes.get(operation.id)
    return `| ${operation.number ?? ''} | ${operation.method} | \`${operation.url}\` | ${cell(needs)} | ${contract.get(operation.id) ?? ''} | ${routed ?? 'not yet'} |`
  })
  return [
    '| # | method | path | needs | contract | answered by |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

const tables: readonly [file: string, name: string, table: () => string][] = [
  ['README.md', 'configuration', configurationTable],
  ['ARCHITECTURE.md', 'operations', operationsTable],
]

let stale = 0
for (const [file, name, table] of tables) {
  const path = new URL(file, root)
  const text = readFileSync(path, 'utf8')
  const begin = `<!-- begin ${name} -->`
  const end = `<!-- end ${name} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from)
    throw new Error(`${file} has no place for the table ${name}: ${begin} ... ${end}`)
  const fresh = `${text.slice(0, from + begin.length)}\n${table()}\n${text.slice(to)}`
  if (fresh === text) continue
  stale++
  if (process.argv.includes('--check'))
    console.error(`The table ${name} in ${file} is not true any more; run npm run documents`)
  else writeFileSync(path, fresh)
}
if (process.argv.includes('--check')) {
  const here = fileURLToPath(root)
  const pages = ['README.md', 'ARCHITECTURE.md', 'STYLE_GUIDE.md', 'CONTRIBUTING.md', 'docs/interface.md']
  const broken = [...brokenCitations(here, ['packages', 'bench', 'scripts']), ...missingFiles(here, pages)]
  for (const line of broken) console.error(line)
  if (stale + broken.length > 0) process.exitCode = 1
}
