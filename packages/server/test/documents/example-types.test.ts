import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { documentPages, root } from '../support/documents/blocks.ts'
import { programsOf } from '../support/documents/programs.ts'
import { makeClone } from '../support/documents/session.ts'

function checkTypes(programs: Readonly<Record<string, string>>): string {
  const clone = makeClone()
  try {
    for (const [name, code] of Object.entries(programs)) writeFileSync(join(clone.path, name), code)
    const settings = {
      extends: fileURLToPath(new URL('tsconfig.json', root)),
      files: Object.keys(programs),
      include: [],
    }
    writeFileSync(join(clone.path, 'examples.json'), JSON.stringify(settings))
    execFileSync('tsc', ['--noEmit', '-p', 'examples.json'], {
      cwd: clone.path,
      env: { ...process.env, ...clone.environment },
      encoding: 'utf8',
    })
    return ''
  } catch (error) {
    return String((error as { stdout?: string }).stdout)
  } finally {
    clone.remove()
  }
}

test('the TypeScript of the pages has the types that it needs', () => {
  const programs = documentPages().flatMap((page) =>
    programsOf(page).flatMap(({ language, code, last }) =>
      language === 'ts' ? [[`${page.name}-${last}.ts`, `${code}\nexport {}\n`] as const] : [],
    ),
  )
  // The check itself is checked: this line must be found.
  const wrong = { 'wrong.ts': "export const count: number = 'one'\n" }
  const complaints = checkTypes({ ...Object.fromEntries(programs), ...wrong })
    .trim()
    .split('\n')
  // Sources that an example imports are checked by `npm run types`; a line about them begins with the way there.
  expect(complaints.filter((line) => !line.startsWith('../'))).toEqual([
    expect.stringMatching(/^wrong\.ts\(1,14\): error TS2322/),
  ])
})
