import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../platform/files/package-files.ts'

/** Where scripts/build-server.ts writes the bundle. */
export const bundleFolder = packageFile('dist/')
/** In that folder, written last: what `describeSources` said of the sources that it is made from. */
export const sourcesName = 'sources.txt'

/** The folders whose modules are bundled, and what else decides about the result. */
const sources = [
  'packages/server/src/',
  'packages/contract/src/',
  'scripts/build-server.ts',
  'package-lock.json',
]
const root = fileURLToPath(packageFile('../../'))

/** Paths below the root of the repository. */
function listSources(): string[] {
  return sources.flatMap((source) => {
    if (!source.endsWith('/')) return [source]
    // With types, because it asks for that of each entry a second time without them.
    return readdirSync(join(root, source), { recursive: true, withFileTypes: true })
      .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length))
      .toSorted()
  })
}

/** A hash of one part of each file, beside its name. */
function hashOf(files: readonly string[], part: (path: string) => string | Buffer): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n`).update(part(root + file))
  return hash.digest('hex')
}

/** Sizes and times: as long as they stay nobody has written to a file. */
const stateOf = (files: readonly string[]): string =>
  hashOf(files, (path) => {
    const { size, mtimeMs } = statSync(path)
    return `${size} ${mtimeMs}\n`
  })

/** Copies and checkouts change the times of files, but not this. */
const contentsOf = (files: readonly string[]): string => hashOf(files, (path) => readFileSync(path))

/** The sources as they are, in two lines: how their files stand, and what is in them. */
export function describeSources(): string {
  const files = listSources()
  return `${stateOf(files)}\n${contentsOf(files)}\n`
}

/** The bundle's command line; undefined where there is no bundle, or one of other sources. */
export function bundledProgram(): URL | undefined {
  const written = new URL(sourcesName, bundleFolder)
  if (!existsSync(written)) return undefined
  const [state, contents] = readFileSync(written, 'utf8').split('\n')
  const files = listSources()
  if (state !== stateOf(files) && contents !== contentsOf(files)) return undefined
  return new URL('boot/command-line.js', bundleFolder)
}
