import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretBox, SecretBoxError } from './secret-box.ts'

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]

test('opens what it sealed, in the same context', () => {
  const box = createSecretBox([newKey])
  const sealed = box.seal('https://hooks.example/T0/B0/secret', 'linked-account:1')
  expect(sealed.toString('latin1')).not.toContain('secret')
  expect(box.open(sealed, 'linked-account:1').toString()).toBe('https://hooks.example/T0/B0/secret')
  expect(() => box.open(sealed, 'linked-account:2')).toThrow(SecretBoxError)
})

test('never seals the same text to the same bytes', () => {
  const box = createSecretBox([newKey])
  expect(box.seal('x', 'c').equals(box.seal('x', 'c'))).toBe(false)
})

test('refuses a secret of which any byte was changed', () => {
  const box = createSecretBox([newKey])
  const sealed = box.seal('text', 'c')
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i)
    expect(() => box.open(changed, 'c')).toThrow(SecretBoxError)
  }
  expect(() => box.open(sealed.subarray(0, 20), 'c')).toThrow('this is no sealed secret')
})

test('opens what an older key sealed and seals with the newer one', () => {
  const sealed = createSecretBox([oldKey]).seal('text', 'c')
  const box = createSecretBox([newKey, oldKey])
  expect(box.open(sealed, 'c').toString()).toBe('text')
  expect(() => createSecretBox([newKey]).open(sealed, 'c')).toThrow(/not among the given ones/)
  expect(() => createSecretBox([oldKey]).open(box.seal('text', 'c'), 'c')).toThrow(SecretBoxError)
})

test('wants keys of 32 bytes', () => {
  expect(() => createSecretBox([])).toThrow(SecretBoxError)
  expect(() => createSecretBox([randomBytes(16)])).toThrow(SecretBoxError)
})
