import { constants, mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPipes } from './pipes.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-pipes-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('an engine that opens its side after the reader has left is let in, and its writes fail', async () => {
  const [pipe] = createPipes(directory, ['pipe-0'])
  if (pipe === undefined) throw new Error('no pipe was made')
  const { source, close } = pipe.openReader()
  const closed = new Promise((resolve) => source.once('close', resolve))
  source.destroy()
  await closed
  let isOpen = false
  const opening = open(pipe.path, constants.O_WRONLY | constants.O_APPEND).finally(() => {
    isOpen = true
  })
  while (!isOpen) {
    pipe.wake()
    await new Promise(setImmediate)
  }
  const writer = await opening
  await expect(writer.write('row')).rejects.toMatchObject({ code: 'EPIPE' })
  await writer.close()
  close()
})
