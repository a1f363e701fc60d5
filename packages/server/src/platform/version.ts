import { readFileSync } from 'node:fs'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** The released version of the server package, as every envelope carries it. */
export const version: string = manifest.version

/** `program` of every envelope. */
export const program = 'millrace'
