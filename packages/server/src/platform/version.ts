import { readFileSync } from 'node:fs'
import { packageFile } from './files/package-files.ts'

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
  version: string
}

/** The released version of the server package, as every envelope carries it. */
export const version: string = manifest.version

/** `program` of every envelope. */
export const program = 'millrace'
