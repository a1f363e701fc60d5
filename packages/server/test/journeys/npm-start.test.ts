import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { isAlive } from '../../src/platform/processes/identity.ts'
import { inFullLengthOnly } from '../support/long.ts'
import { type Service, startService } from '../support/running-service.ts'

const endings: readonly (readonly ['npm' | 'the service', NodeJS.Signals, number | null])[] = [
  ['npm', 'SIGTERM', 0],
  ['npm', 'SIGKILL', null],
  ['npm', 'SIGINT', 0],
  ['the service', 'SIGTERM', 0],
]

async function send(service: Service, eventId: string): Promise<number> {
  const event = { key: service.companyId, name: 'seen', url: '', tmpId: 'd', eventId, v: 1, data: {} }
  return (await fetch(service.trackerUrl, { method: 'POST', body: JSON.stringify(event) })).status
}

test('npm start ends in order with the service, whichever of the two is signalled, and starts again', async (context) => {
  inFullLengthOnly(context)
  const dataDirectory = mkdtempSync(join(tmpdir(), 'millrace-npm-'))
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }))
  const start = () =>
    startService({
      dataDirectory,
      env: { MILLRACE_LOG_LEVEL: 'info' },
      through: () => ['npm', '--no-update-notifier', 'start'],
    })
  for (const [whom, signal, code] of endings) {
    const service = await start()
    const processes = service.processes()
    onTestFinished(() => {
      for (const each of processes) if (isAlive(each)) process.kill(each.pid, 'SIGKILL')
    })
    expect(processes.length).toBeGreaterThan(2)
    expect(await send(service, `${whom} ${signal}`)).toBe(200)
    if (whom === 'the service') process.kill(service.pid, signal)
    expect(await service.stop(whom === 'npm' ? signal : undefined)).toBe(code)
    await expect.poll(() => processes.filter(isAlive)).toEqual([])
    expect(service.output()).toContain('postgres is stopped')
    expect(service.output()).toContain('columnar is stopped')
  }
  const service = await start()
  const counters = () =>
    service.dataOf<{ accepted: number }>('GET', `/datasources/${service.datasourceId}/counters`)
  await expect.poll(async () => (await counters()).accepted).toBe(endings.length)
  // Last, because it ends the sessions of the user.
  const printed = () => service.output().match(/^.*npm run millrace -- user password.*$/m)?.[0]
  await expect.poll(printed).toBeDefined()
  const { MILLRACE_DATA_DIR: _, ...env } = process.env
  const { stdout } = await promisify(execFile)('sh', ['-c', `${printed()} < /dev/null`], { env })
  expect(stdout).toContain('Set the password of admin@millrace.local')
  expect(await service.stop()).toBe(0)
})

test('start refuses arguments instead of ignoring them, and names what sets it up', async () => {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const dataDirectory = join(tmpdir(), crypto.randomUUID())
  const refused = promisify(execFile)(process.execPath, [main, 'start', '--port', '8081'], {
    env: { ...process.env, MILLRACE_DATA_DIR: dataDirectory },
  })
  await expect(refused).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--port 8081') })
  await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('MILLRACE_PORT=8081') })
  expect(existsSync(dataDirectory)).toBe(false)
})
