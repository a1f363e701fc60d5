import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('threads of before and of later yield', ({ skip }) => {
  if (process.platform !== 'linux') return skip('elsewhere threads have no priorities of their own')
  const script = `
    import { readdirSync, readFileSync } from 'node:fs'
    import { stat } from 'node:fs/promises'
    import { yieldToOthers } from ${JSON.stringify(join(import.meta.dirname, 'priority.ts'))}
    await stat('/')
    yieldToOthers(7)
    const threads = readdirSync('/proc/self/task')
    const values = threads.map((id) => readFileSync('/proc/self/task/' + id + '/stat', 'latin1').split(') ')[1].split(' ')[16])
    console.log([...new Set(values.filter((value) => value >= 0))].join())`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  expect([stdout.trim(), stderr]).toEqual(['7', ''])
})
