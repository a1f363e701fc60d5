import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import ts from 'typescript'
import { allOperations } from '../packages/contract/src/operations/all.ts'
import { writeObject, writeType } from './write-type.ts'

// Builds the packed form of packages/sdk into its `dist`: JavaScript without dependencies, and declarations that need
// neither the contract nor its schemas. What the client takes from the contract is computed here and written down.

const root = fileURLToPath(new URL('../', import.meta.url))
const source = `${root}packages/sdk/src/`
const target = `${root}packages/sdk/dist/`
const entries = {
  index: 'index.ts',
  'events/index': 'events/index.ts',
  'experiments/index': 'experiments/index.ts',
}

const contract = /@millrace\/contract\/([\w/.-]+)\.ts/

/** The table that the client is made from, without the schemas that it is computed from. */
async function contractTable(): Promise<string> {
  const { operationRows, errorNames } = await import(`${source}contract-table.ts`)
  return [
    `export const operationRows = ${JSON.stringify(operationRows)}`,
    `export const errorNames = ${JSON.stringify(errorNames)}`,
  ].join('\n')
}

async function writeScripts(): Promise<void> {
  const table = await contractTable()
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, source + file])),
    platform: 'neutral',
    plugins: [
      { name: 'contract-table', load: (id) => (id === `${source}contract-table.ts` ? table : undefined) },
    ],
  })
  const { output } = await bundle.write({ dir: target, chunkFileNames: 'shared/[name].js' })
  await bundle.close()
  for (const each of output) {
    if (each.type !== 'chunk') continue
    const foreign = [...each.imports, ...each.dynamicImports].filter(
      (name) => !output.some((one) => one.fileName === name),
    )
    if (foreign.length > 0)
      throw new Error(`${each.fileName} imports ${foreign.join(', ')}: the package has no dependencies`)
  }
}

function openProgram(): ts.Program {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  return ts.createProgram(
    Object.values(entries).map((file) => source + file),
    { ...options, noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir: root },
  )
}

/** Declarations of the package by their path below `src`. */
function emitDeclarations(program: ts.Program): Map<string, string> {
  const declarations = new Map<string, string>()
  for (const file of program.getSourceFiles()) {
    if (!file.fileName.startsWith(source)) continue
    program.emit(file, (name, text) => declarations.set(name.slice(source.length), text))
  }
  return declarations
}

/** What editors show beside the methods of the client. */
const summaries = new Map(
  allOperations.map(({ id, method, url, summary }) => [id, `${summary}: \`${method} ${url}\`.`]),
)

/** One declaration file with every type of the contract that the declarations name, written out. */
function writeContractTypes(program: ts.Program, declarations: ReadonlyMap<string, string>): string {
  const checker = program.getTypeChecker()
  const wanted = new Map<string, string>()
  for (const text of declarations.values()) {
    const imports = text.matchAll(
      /(?:import|export)(?: type)? \{([^}]*)\} from '@millrace\/contract\/([\w/.-]+)\.ts'/g,
    )
    for (const [, names = '', module = ''] of imports)
      for (const name of names.split(',').map((each) => each.replace('type ', '').trim()))
        if (name !== '') wanted.set(name, module)
  }
  const written: string[] = []
  const hoisted = new Map<string, string>()
  for (const [name, module] of wanted) {
    const file = program.getSourceFile(`${root}packages/contract/src/${module}.ts`)
    const exported =
      file && checker.getSymbolAtLocation(file)?.exports?.get(ts.escapeLeadingUnderscores(name))
    if (!exported) throw new Error(`packages/contract/src/${module}.ts exports no ${name}`)
    const type = checker.getDeclaredTypeOfSymbol(exported)
    if (name === 'OperationTypes') {
      written.push(`export interface ${name} ${writeObject(checker, type, hoisted, summaries)}`)
      continue
    }
    const text = writeType(checker, type, hoisted)
    // An interface is among the hoisted now.
    if (!hoisted.has(name)) written.push(`export type ${name} = ${text}`)
  }
  return `${[...written, ...hoisted.values()].join('\n\n')}\n`
}

function writeDeclarations(): void {
  const program = openProgram()
  const declarations = emitDeclarations(program)
  if (declarations.size === 0) throw new Error('no declaration was written')
  const types = writeContractTypes(program, declarations)
  for (const [name, text] of declarations) {
    const toContract = relative(dirname(`/${name}`), '/contract.js')
    const specifier = toContract.startsWith('.') ? toContract : `./${toContract}`
    const own = text.replaceAll(new RegExp(`(['"])${contract.source}\\1`, 'g'), `'${specifier}'`)
    mkdirSync(dirname(target + name), { recursive: true })
    writeFileSync(target + name, own.replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'"))
  }
  writeFileSync(`${target}contract.d.ts`, types)
}

function writeManifest(): void {
  const { name, version, description, license, type } = JSON.parse(
    readFileSync(`${root}packages/sdk/package.json`, 'utf8'),
  )
  const exports = Object.fromEntries(
    Object.keys(entries).map((entry) => [
      entry === 'index' ? '.' : `./${dirname(entry)}`,
      { types: `./${entry}.d.ts`, default: `./${entry}.js` },
    ]),
  )
  const manifest = {
    name,
    version,
    description,
    license,
    type,
    exports,
    sideEffects: false,
    engines: { node: '>=20.3' },
  }
  writeFileSync(`${target}package.json`, `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(`${root}LICENSE`, `${target}LICENSE`)
  cpSync(`${root}docs/sdk.md`, `${target}README.md`)
}

rmSync(target, { recursive: true, force: true })
await writeScripts()
writeDeclarations()
writeManifest()
