import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const elsewhere =
  process.platform === 'linux' ? undefined : 'elsewhere threads have no priorities of their own'

/** What a script says that yields and then runs `report`. */
function afterYielding(report: string, ...before: string[]): string {
  const script = `
    import { readdirSync, readFileSync } from 'node:fs'
    import { stat } from 'node:fs/promises'
    import { yieldToOthers } from ${JSON.stringify(join(import.meta.dirname, 'priority.ts'))}
    await stat('/')
    yieldToOthers(7)
    ${report}`
  const [command = '', ...args] = [...before, process.execPath, '--input-type=module', '-e', script]
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return `${stdout}${stderr}`.trim()
}

function groupOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}

test('threads of before and of later yield', ({ skip }) => {
  if (elsewhere) return skip(elsewhere)
  const report = `
    const threads = readdirSync('/proc/self/task')
    const values = threads.map((id) => readFileSync('/proc/self/task/' + id + '/stat', 'latin1').split(') ')[1].split(' ')[16])
    console.log([...new Set(values.filter((value) => value >= 0))].join())`
  expect(afterYielding(report)).toBe('7')
})

test('a session of its own yields to the other sessions, and a foreign session stays as it is', ({
  skip,
}) => {
  if (elsewhere) return skip(elsewhere)
  const before = groupOf('/proc/self/autogroup')
  // A kernel without groups has nothing to tell, and the priorities of the threads count among all processes.
  const report = `try { console.log(readFileSync('/proc/self/autogroup', 'utf8')) } catch { console.log('none') }`
  const expected = before === undefined ? 'none' : expect.stringMatching(/nice 7$/)
  expect(afterYielding(report, 'setsid', '--wait')).toEqual(expected)
  expect(afterYielding(report)).toBe(before ?? 'none')
  expect(groupOf('/proc/self/autogroup')).toBe(before)
})
