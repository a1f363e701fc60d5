import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { consoleRoutes } from './console-routes.ts'

const built = new URL('../../../../console/dist/', import.meta.url)
const isBuilt = existsSync(new URL('index.html', built))

/** Bytes of script, as they are sent, that a browser needs before it shows the first screen. */
const maxFirstScript = 210_000

const sizeOf = (name: string) => gzipSync(readFileSync(new URL(`assets/${name}`, built)), { level: 9 }).length

test.skipIf(!isBuilt)('the first script is within its bound', () => {
  const page = readFileSync(new URL('index.html', built), 'utf8')
  const names = new Set([...page.matchAll(/assets\/([\w.-]+\.js)"/g)].map(([, name]) => name ?? ''))
  expect(names.size).toBeGreaterThan(0)
  expect([...names].reduce((sum, name) => sum + sizeOf(name), 0)).toBeLessThanOrEqual(maxFirstScript)
})

test.skipIf(!isBuilt)('no text of the build could be a place for values of the page', () => {
  const page = readFileSync(new URL('index.html', built), 'utf8')
  expect(page.match(/%[A-Z]+%/g)?.sort()).toEqual(
    expect.arrayContaining(['%CLIENT%', '%NONCE%']) as unknown as string[],
  )
})

test.skipIf(!isBuilt)('every file of the build is sent by its name', async () => {
  const app = Fastify()
  await app.register(consoleRoutes({ clientId: 'a client', directory: built }))
  const names = readdirSync(new URL('assets/', built)).filter((name) => !/\.(br|gz)$/.test(name))
  expect(names.length).toBeGreaterThan(0)
  const refused: string[] = []
  for (const name of names)
    if ((await app.inject({ url: `/console/assets/${name}` })).statusCode !== 200) refused.push(name)
  await app.close()
  expect(refused).toEqual([])
})
