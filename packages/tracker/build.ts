/**
 * Writes `dist`: `node packages/tracker/build.ts`. The files are part of the repository, because the service serves
 * them from a checkout without a build; packages/tracker/src/dist.test.ts holds them against their sources.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rolldown } from 'rolldown'
import ts from 'typescript'

const root = new URL('./', import.meta.url)

/** Scripts by the name that the service gives them, each with the module that it begins with. */
const scripts = {
  't.js': 'src/start.ts',
  't-workflows.js': 'src/workflows/page.ts',
  // Not served by itself: the service puts it into the HTML that users paste.
  'embedded/snippet.js': 'src/workflows/snippet.ts',
  // What bundlers import.
  'package/index.js': 'src/index.ts',
} as const

/** Modules whose declarations the package has beside its script. */
const declared = ['index', 'track'] as const

interface BuiltFile {
  readonly name: string
  readonly text: string
}

export function buildDeclarations(): BuiltFile[] {
  return declared.map((name) => {
    const source = readFileSync(new URL(`src/${name}.ts`, root), 'utf8')
    const { outputText } = ts.transpileDeclaration(source, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, strict: true },
    })
    return { name: `package/${name}.d.ts`, text: outputText.replaceAll(/(from '\.\/\w+)\.ts'/g, "$1.js'") }
  })
}

export async function buildScripts(): Promise<BuiltFile[]> {
  return Promise.all(
    Object.entries(scripts).map(async ([name, input]) => {
      const build = await rolldown({
        cwd: root.pathname,
        input,
        platform: 'browser',
        tsconfig: false,
        transform: { target: 'es2021' },
      })
      const { output } = await build.generate({
        format: name.startsWith('package/') ? 'es' : 'iife',
        minify: true,
        comments: false,
      })
      await build.close()
      return {
        name,
        text: output[0].code.trim().replace(/^\(function\(\)\{(.*)\}\)\(\);$/s, '(()=>{$1})();'),
      }
    }),
  )
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const { name, text } of [...(await buildScripts()), ...buildDeclarations()]) {
    const file = new URL(`dist/${name}`, root)
    mkdirSync(new URL('.', file), { recursive: true })
    writeFileSync(file, text)
  }
}
