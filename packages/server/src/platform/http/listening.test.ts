import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exitCodes } from '../start-refused.ts'
import { requireAddress } from './listening.ts'

const host = '127.0.0.1'
let other: Server
let port: number

beforeEach(async () => {
  other = createServer().listen({ host, port: 0 })
  await once(other, 'listening')
  port = (other.address() as AddressInfo).port
})

afterEach(() => void other.close())

test('a start whose port is in use says so, before it makes an installation', async () => {
  const path = mkdtempSync(join(tmpdir(), 'millrace-port-'))
  try {
    const main = join(import.meta.dirname, '../../main.ts')
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, [main, 'start'], {
      env: { PATH, NODE_COMPILE_CACHE, MILLRACE_DATA_DIR: path, MILLRACE_PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    expect(await once(child, 'close')).toEqual([exitCodes.inUse, null])
    expect(said).toContain(
      `Port ${port} of ${host} is in use by another program.\n` +
        'Stop that one, or give this service another one with MILLRACE_PORT (0 takes a free one).\n',
    )
    expect(readdirSync(path)).not.toContain('postgres')
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})

test('a port that is given back meanwhile is free', async () => {
  let isTaken = true
  const free = requireAddress({ host, port })
  setTimeout(() => {
    isTaken = false
    other.close()
  }, 200)
  await expect(free).resolves.toBeUndefined()
  expect(isTaken).toBe(false)
})

test('says which variable names an address that this machine does not have', async () => {
  await expect(requireAddress({ host: '192.0.2.1', port: 0 })).rejects.toThrow(
    /cannot listen on port 0 of 192\.0\.2\.1: .*EADDRNOTAVAIL.*\nMILLRACE_HOST/,
  )
})
