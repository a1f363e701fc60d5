import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildDeclarations, buildScripts } from '../build.ts'

const built = (name: string) => readFileSync(new URL(`../dist/${name}`, import.meta.url), 'utf8')

test('dist holds what the sources make: npm run build -w packages/tracker', async () => {
  for (const { name, text } of [...(await buildScripts()), ...buildDeclarations()])
    expect(built(name) === text, name).toBe(true)
})

test('the package declares its functions without a source of the repository', () => {
  const declarations = buildDeclarations().map(({ text }) => text)
  expect(declarations[0]).toContain('export declare function createTracker(options: TrackerOptions): Track;')
  const modules = declarations.flatMap((text) =>
    [...text.matchAll(/from '([^']*)'/g)].map(([, name]) => name),
  )
  expect(new Set(modules)).toEqual(new Set(['./track.js']))
})

test('the base script has at most 2 KiB with gzip', () => {
  expect(gzipSync(built('t.js'), { level: 9 }).length).toBeLessThanOrEqual(2048)
})

test('the base script sets no global of its own but track, and evaluates no text', () => {
  expect(built('t.js')).toMatch(/^\(\(\)=>\{.*\}\)\(\);$/s)
  expect(built('t.js')).not.toMatch(/\beval\b|new Function|innerHTML|document\.write/)
})
