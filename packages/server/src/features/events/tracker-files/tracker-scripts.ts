import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { packageFile } from '../../../platform/files/package-files.ts'
import { type KeptBody, keptBody } from '../../../platform/http/compression.ts'

export interface TrackerScripts {
  /** The base script. */
  readonly base: string
  /** Where its immutable copy is, and the hash that pages name in `integrity`. */
  readonly copy: { readonly path: string; readonly integrity: string }
  /** Every immutable copy by its path. */
  readonly copies: ReadonlyMap<string, KeptBody>
  /** The path of the immutable copy of a file of the tracker's build, such as `t.js`. */
  pathOf(name: string): string
}

/** What the tracker's build writes: part of the repository. */
const builtFiles = packageFile('../tracker/dist/')

/** Reads the scripts that pages load. */
export function readTrackerScripts(directory: URL = builtFiles): TrackerScripts {
  const copies = new Map<string, KeptBody>()
  const paths = new Map<string, string>()
  const texts = new Map<string, string>()
  for (const name of readdirSync(directory).filter((each) => each.endsWith('.js'))) {
    const text = readFileSync(new URL(name, directory), 'utf8')
    const path = `/${name.slice(0, -'.js'.length)}-${hashOf('sha256', text).slice(0, 16)}.js`
    copies.set(path, keptBody(text))
    paths.set(name, path)
    texts.set(name, text)
  }
  const pathOf = (name: string): string => {
    const path = paths.get(name)
    if (path === undefined) throw new Error(`${name} is not in ${directory.pathname}: build packages/tracker`)
    return path
  }
  const base = texts.get('t.js') ?? ''
  const integrity = `sha384-${createHash('sha384').update(base).digest('base64')}`
  return { base, copy: { path: pathOf('t.js'), integrity }, copies, pathOf }
}

function hashOf(algorithm: string, text: string): string {
  return createHash(algorithm).update(text).digest('base64url')
}
