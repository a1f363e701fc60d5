import manifest from '../../package.json' with { type: 'json' }

/** The released version of the server package, as every envelope carries it. */
export const version: string = manifest.version

/** `program` of every envelope. */
export const program = 'millrace'
