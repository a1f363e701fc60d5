import { expect, test } from 'vitest'
import { createSharedTimeout } from './shared-timeout.ts'

test('a wait that lasts too long is rejected, others settle as they do', async () => {
  const timeout = createSharedTimeout({ timeoutMs: 5, stepMs: 5, message: 'too late' })
  await expect(timeout.within(Promise.resolve())).resolves.toBeUndefined()
  await expect(timeout.within(Promise.reject(new Error('full')))).rejects.toThrow('full')
  await expect(timeout.within(new Promise(() => {}))).rejects.toThrow('too late')
  await expect(timeout.within(new Promise(() => {}))).rejects.toThrow('too late')
})
