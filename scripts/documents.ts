/**
 * Writes the list of all operations and the generated tables of pages. With `--check` it only
 * checks that they are up to date, and that citations in comments and files named in documents exist. A table stands
 * between `<!-- begin NAME -->` and `<!-- end NAME -->`.
 */
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Operation } from '../packages/contract/src/operation.ts'
import { describePermission } from '../packages/contract/src/permissions.ts'
import { nodeCategories } from '../packages/contract/src/resources/workflow-definition.ts'
import { transformFunctions } from '../packages/server/src/features/personalisation/definition/transform-functions/catalogue.ts'
import {
  dimensionWords,
  measureWords,
  valueWords,
} from '../packages/server/src/features/questions/lexicon.ts'
import { variables } from '../packages/server/src/platform/config/env.ts'
import { brokenCitations, missingFiles } from './citations.ts'
import { definitionPartsTable } from './tables/definition-parts.ts'
import { errorTables, ruleTable } from './tables/errors.ts'
import { cell } from './tables/markdown.ts'
import { memberTables } from './tables/members.ts'

const root = new URL('../', import.meta.url)

function configurationTable(): string {
  const rows = Object.entries<{ description: string; fallback?: string; secret?: true }>(variables).map(
    ([name, { description, fallback, secret }]) =>
      `| \`${name}\` | ${fallback === undefined ? '' : `\`${fallback}\``} | ${cell(description)}${secret ? ` Or \`${name}_FILE\`.` : ''} |`,
  )
  return ['| variable | default | what it is |', '|---|---|---|', ...rows].join('\n')
}

/** What words of a question mean: the members or values, and how they are called in both languages. */
function questionWordsTable(): string {
  const row = (means: string, { en, fr }: { en: readonly string[]; fr: readonly string[] }) =>
    `| ${means} | ${cell(en.join(', '))} | ${cell(fr.join(', '))} |`
  const ids = (members: readonly string[]) => members.map((id) => `\`${id}\``).join(' or ')
  return [
    '| means | in English | in French |',
    '|---|---|---|',
    ...measureWords.map(({ ids: members, beside, events, ...words }) => {
      const others = (beside ?? []).map((id) => `\`${id}\``).join(' and ')
      const named = events ? ` of ${events.map((name) => `\`${name}\``).join(', ')}` : ''
      return row(`${ids(members)}${others}${named}`, words)
    }),
    ...dimensionWords.map(({ ids: members, ...words }) => row(`by ${ids(members)}`, words)),
    ...valueWords.map(({ dimension, values, ...words }) =>
      row(`${dimension} is ${values.map((value) => `\`${value}\``).join(', ')}`, words),
    ),
  ].join('\n')
}

/** Functions of transform nodes; arguments that are written into the definition are in italics. */
function transformFunctionsTable(): string {
  const rows = [...transformFunctions].map(([name, { parameters, rest, result, description }]) => {
    const named = parameters.map((each) => {
      const written = each.constant ? `_${each.name}_` : each.name
      return each.optional ? `${written}?` : written
    })
    const words = parameters.flatMap((each) =>
      each.words ? `; _${each.name}_: ${each.words.map((word) => `\`${word}\``).join(', ')}` : [],
    )
    const call = [...named, ...(rest === undefined ? [] : ['…'])].join(', ')
    return `| \`${name}\` (${call}) | ${result} | ${cell(`${description}${words.join('')}`)} |`
  })
  return ['| function | gives | what |', '|---|---|---|', ...rows].join('\n')
}

/** The modules of all types of nodes. */
function nodesList(): string {
  const types = Object.keys(nodeCategories)
  return [
    '// Written by `npm run documents`, from `nodeCategories` of the contract.',
    ...types.toSorted().map((type) => `import { ${type} } from './${type}.ts'`),
    '',
    'export const allNodes = {',
    ...types.map((type) => `  ${type},`),
    '}',
    '',
  ].join('\n')
}

/** Where an operation's shapes are described: the file that exports it. */
function contractFiles(): Map<string, string> {
  const directory = new URL('packages/contract/src/operations/', root)
  const files = new Map<string, string>()
  for (const name of readdirSync(directory).toSorted()) {
    if (name === 'all.ts' || !name.endsWith('.ts') || name.endsWith('.test.ts')) continue
    for (const found of readFileSync(new URL(name, directory), 'utf8').matchAll(
      /^export const (\w+) = \{$/gm,
    )) {
      files.set(found[1] ?? '', `operations/${name}`)
    }
  }
  return files
}

/** The list of all operations in its present order, new ones behind the others of their file. */
function operationsList(present: string): string {
  const files = contractFiles()
  const ids = [...present.matchAll(/^ {2}\w+\.(\w+),$/gm)].flatMap(([, id = '']) => (files.has(id) ? id : []))
  for (const [id, file] of files) {
    if (ids.includes(id)) continue
    const last = ids.findLastIndex((each) => files.get(each) === file)
    ids.splice(last < 0 ? ids.length : last + 1, 0, id)
  }
  const nameOf = (file: string) =>
    file.slice('operations/'.length, -'.ts'.length).replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase())
  return [
    "import type { Operation } from '../operation.ts'",
    ...[...new Set(files.values())].map(
      (file) => `import * as ${nameOf(file)} from './${file.split('/')[1]}'`,
    ),
    '',
    '/**',
    ' * Every operation of the interface: the 19 documented ones by number, then the extensions. `npm run documents`',
    ' * writes it from what the files beside it export; it keeps the order.',
    ' */',
    'const everyOperation = [',
    ...ids.map((id) => `  ${nameOf(files.get(id) ?? '')}.${id},`),
    '] as const',
    '',
    'export const allOperations: readonly Operation[] = everyOperation',
    '',
    '/** One of them with all that its type knows: its id, its address and its schemas. */',
    'export type AnyOperation = (typeof everyOperation)[number]',
    '',
  ].join('\n')
}

/** Where an operation is answered: the server file that routes it, or nothing while it is only described. */
function routeFiles(): Map<string, string> {
  const source = new URL('packages/server/src/', root)
  const files = new Map<string, string>()
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('-routes.ts')) continue
    const text = readFileSync(new URL(name, source), 'utf8')
    for (const found of text.matchAll(/\b(?:route|rawRoute|exchangeRoute)\(\s*\w+,\s*(\w+),/g))
      files.set(found[1] ?? '', name)
  }
  return files
}

function operationsTable(allOperations: readonly Operation[]): string {
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

const isCheck = process.argv.includes('--check')

function write(file: string, fresh: string): void {
  const path = new URL(file, root)
  if (readFileSync(path, 'utf8') === fresh) return
  if (isCheck) {
    console.error(`${file} is no longer true; run npm run documents`)
    process.exitCode = 1
  } else writeFileSync(path, fresh)
}

function withTable(file: string, name: string, table: string): string {
  const text = readFileSync(new URL(file, root), 'utf8')
  const begin = `<!-- begin ${name} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(`<!-- end ${name} -->`)
  if (from < 0 || to < from)
    throw new Error(`${file} has no place for the table ${name}: ${begin} ... <!-- end ${name} -->`)
  return `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`
}

const list = 'packages/contract/src/operations/all.ts'
write(list, operationsList(readFileSync(new URL(list, root), 'utf8')))
write('packages/server/src/features/personalisation/definition/nodes/all.ts', nodesList())
write('docs/operating.md', withTable('docs/operating.md', 'configuration', configurationTable()))
write('docs/reports.md', withTable('docs/reports.md', 'question-words', questionWordsTable()))
write('docs/workflows.md', withTable('docs/workflows.md', 'definition-parts', definitionPartsTable()))
write('docs/workflows.md', withTable('docs/workflows.md', 'transform-functions', transformFunctionsTable()))
// Not before the list is written.
const { allOperations } = await import('../packages/contract/src/operations/all.ts')
const operationsPage = 'packages/contract/src/operations/README.md'
write(operationsPage, withTable(operationsPage, 'operations', operationsTable(allOperations)))
write('docs/measures.md', withTable('docs/measures.md', 'members', memberTables()))
write('docs/errors.md', withTable('docs/errors.md', 'errors', errorTables(allOperations)))
write('docs/errors.md', withTable('docs/errors.md', 'rules', ruleTable()))
if (isCheck) {
  const here = fileURLToPath(root)
  const rooms = globSync('packages/**/README.md', { cwd: root, exclude: ['**/node_modules/**'] })
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'STYLE_GUIDE.md',
    'CONTRIBUTING.md',
    'docs/interface.md',
    ...rooms,
  ]
  const broken = [...brokenCitations(here, ['packages', 'bench', 'scripts']), ...missingFiles(here, pages)]
  for (const line of broken) console.error(line)
  if (broken.length > 0) process.exitCode = 1
}
