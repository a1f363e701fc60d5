import { afterAll, expect, test } from 'vitest'
import { createArgon2Threads } from './argon2-threads.ts'
import { deriveArgon2id } from './argon2id.ts'

const threads = createArgon2Threads(2)
afterAll(() => threads.close())

const parameters = (text: string) => ({
  message: Buffer.from(text),
  nonce: Buffer.alloc(16, 1),
  memory: 64,
  passes: 1,
  parallelism: 1,
  tagLength: 32,
})

test('gives what the library gives, whatever the order in which it is asked', async () => {
  const texts = Array.from({ length: 20 }, (_, i) => `password ${i}`)
  const [ours, theirs] = await Promise.all([
    Promise.all(texts.map((text) => threads.derive(parameters(text)))),
    Promise.all(texts.map((text) => deriveArgon2id(parameters(text)))),
  ])
  expect(ours.map((tag) => tag.toString('hex'))).toEqual(theirs.map((tag) => tag.toString('hex')))
})

test('a fault is that of the one who asked, and the next is served', async () => {
  await expect(threads.derive({ ...parameters('x'), memory: 1 })).rejects.toThrow()
  expect(await threads.derive(parameters('x'))).toHaveLength(32)
})

test('nothing is computed after the end', async () => {
  const own = createArgon2Threads(1)
  await own.derive(parameters('x'))
  const asked = [own.derive({ ...parameters('y'), memory: 65_536, passes: 10 }), own.derive(parameters('z'))]
  const refused = Promise.all(asked.map((each) => expect(each).rejects.toThrow('hashing has ended')))
  await own.close()
  await refused
  await expect(own.derive(parameters('x'))).rejects.toThrow('hashing has ended')
})
