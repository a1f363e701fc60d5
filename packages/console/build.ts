import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

// Builds the console into packages/console/dist, each file also compressed: the service sends them as they lie.

// Otherwise an environment of another name, such as that of tests, makes a build for development.
process.env.NODE_ENV = 'production'
await build({ configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)), logLevel: 'warn' })
const assets = new URL('dist/assets/', import.meta.url)
for (const name of readdirSync(assets)) {
  const content = readFileSync(new URL(name, assets))
  writeFileSync(new URL(`${name}.gz`, assets), gzipSync(content, { level: 9 }))
  writeFileSync(
    new URL(`${name}.br`, assets),
    brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
  )
}
