import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLogger } from '../logger.ts'
import { ChildFailed, type ChildSpec, type ChildState, type SupervisedChild } from './child.ts'
import { identify, isAlive, type ProcessIdentity } from './identity.ts'
import { enterIdleTime } from './idle-time.ts'
import { superviseChild } from './supervisor.ts'

let directory: string
const running: SupervisedChild[] = []
const foreign: ChildProcess[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-supervisor-'))
})

afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => child.stop()))
  for (const process of foreign.splice(0)) process.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

const environment = { PATH: '/usr/bin:/bin' }

/** A shell that says that it is up and then waits; `script` may do something before. */
function shell(script: string, changes: Partial<ChildSpec> = {}): ChildSpec {
  return {
    name: 'example',
    command: 'sh',
    args: ['-c', script],
    environment,
    pidFile: join(directory, 'example.pid'),
    ready: async (child) => void (await child.line(/^up$/)),
    readyWithinMs: 5000,
    stop: [{ signal: 'SIGTERM', waitMs: 3000 }],
    backOff: { firstMs: 20, maxMs: 100 },
    ...changes,
  }
}

function supervise(spec: ChildSpec): SupervisedChild {
  const child = superviseChild(spec, { logger: silentLogger })
  running.push(child)
  return child
}

const waiting = 'echo up; while :; do sleep 0.05; done'

async function until(fact: () => boolean): Promise<void> {
  await expect.poll(fact, { interval: 10 }).toBe(true)
}

function policyOf(pid: number): string | undefined {
  return spawnSync('chrt', ['--pid', String(pid)], { encoding: 'utf8' }).stdout
}

function alive(pid: number | undefined): ProcessIdentity {
  const identity = identify(pid ?? 0)
  if (identity === undefined) throw new Error(`process ${pid} does not run`)
  return identity
}

test('is ready once the child says so, and gone without a trace after a stop', async () => {
  const child = supervise(shell(waiting))
  const states: ChildState[] = []
  child.onChange((status) => states.push(status.state))
  await child.start()
  const process = alive(child.status().pid)
  expect(child.status()).toMatchObject({ state: 'ready', restarts: 0, reason: undefined })
  await child.stop()
  expect(isAlive(process)).toBe(false)
  expect(existsSync(join(directory, 'example.pid'))).toBe(false)
  expect(child.status()).toMatchObject({ state: 'stopped', pid: undefined })
  expect([...new Set(states)]).toEqual(['starting', 'ready', 'stopping', 'stopped'])
})

test('tells what a child wrote that exits before it is ready', async () => {
  const child = supervise(shell('echo one; echo "FATAL: no such cluster" >&2; exit 3'))
  const error = await child.start().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ChildFailed)
  expect((error as ChildFailed).message).toMatch(/example exited with code 3.*FATAL: no such cluster/s)
  expect(child.status()).toMatchObject({ state: 'stopped', pid: undefined })
})

test('a first start that failed can be asked for again, until it is stopped', async () => {
  const flag = join(directory, 'broken')
  writeFileSync(flag, '')
  const child = supervise(shell(`[ -e ${flag} ] && exit 1; ${waiting}`))
  await expect(child.start()).rejects.toBeInstanceOf(ChildFailed)
  await expect(child.start()).rejects.toBeInstanceOf(ChildFailed)
  rmSync(flag)
  await child.start()
  await expect(child.start()).rejects.toThrow('was started before')
  await child.stop()
  await child.stop()
  await expect(child.start()).rejects.toThrow('was stopped')
})

test('ends a child that is not ready in time', async () => {
  const child = supervise(shell('echo $$; while :; do sleep 0.05; done', { readyWithinMs: 150 }))
  const error = (await child.start().catch((reason: unknown) => reason)) as ChildFailed
  expect(error.message).toMatch(/is not ready after 0.15 s/)
  expect(identify(Number(error.output[0]))).toBeUndefined()
})

test('says which command is missing', async () => {
  const child = supervise(shell('', { command: '/nowhere/engine' }))
  await expect(child.start()).rejects.toThrow(/example cannot be started: .*\/nowhere\/engine/)
})

test('can be stopped while it is starting', async () => {
  const child = supervise(shell('while :; do sleep 0.05; done'))
  const start = child.start().catch((reason: unknown) => reason)
  await until(() => child.status().pid !== undefined)
  const process = alive(child.status().pid)
  await child.stop()
  expect((await start) as ChildFailed).toBeInstanceOf(ChildFailed)
  expect(isAlive(process)).toBe(false)
})

test('starts a killed child again, with longer pauses while it keeps failing', async () => {
  const flag = join(directory, 'broken')
  const child = supervise(shell(`[ -e ${flag} ] && exit 1; ${waiting}`))
  await child.start()
  const first = alive(child.status().pid)
  process.kill(first.pid, 'SIGKILL')
  await until(() => child.status().state === 'ready' && child.status().restarts === 1)
  expect(alive(child.status().pid)).not.toEqual(first)

  writeFileSync(flag, '')
  process.kill(child.status().pid ?? 0, 'SIGKILL')
  await until(() => child.status().restarts >= 4)
  expect(child.status().reason).toMatch(/exited with code 1|SIGKILL/)
  rmSync(flag)
  await until(() => child.status().state === 'ready')
})

test('replaces a child that hangs', async () => {
  let answers = true
  const child = supervise(
    shell(waiting, {
      stop: [{ signal: 'SIGTERM', waitMs: 100 }],
      probe: {
        everyMs: 10,
        withinMs: 30,
        failures: 3,
        run: () => (answers ? Promise.resolve() : new Promise(() => {})),
      },
    }),
  )
  await child.start()
  const first = alive(child.status().pid)
  process.kill(first.pid, 'SIGSTOP')
  answers = false
  await until(() => child.status().failedProbes > 0 || child.status().restarts > 0)
  await until(() => child.status().restarts === 1)
  answers = true
  expect(isAlive(first)).toBe(false)
  await until(() => child.status().state === 'ready')
})

test('a child that yields and gets no time is followed by one with a share', async ({ skip }) => {
  const child = supervise(
    shell('echo up; while :; do :; done', {
      yields: true,
      probe: { everyMs: 400, withinMs: 400, failures: 2, run: () => Promise.resolve() },
    }),
  )
  await child.start()
  const first = alive(child.status().pid)
  if (!(await enterIdleTime(first.pid))) return skip('there is no idle class here')
  // Enough to leave next to nothing to the idle class, also where tests run with a low priority.
  const crowd = availableParallelism() * Math.ceil(1.25 ** getPriority() / 5)
  for (let i = 0; i < crowd; i++) {
    foreign.push(spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }))
  }
  await until(() => child.status().restarts === 1 && child.status().state === 'ready')
  const second = alive(child.status().pid)
  expect(policyOf(second.pid)).toContain('SCHED_OTHER')
  await sleep(1500)
  expect(child.status().restarts).toBe(1)
})

test('kills a child that ignores the signals, after the last deadline', async () => {
  const stop = [
    { signal: 'SIGINT', waitMs: 60 },
    { signal: 'SIGTERM', waitMs: 60 },
  ] as const
  const child = supervise(shell(`trap '' TERM INT; ${waiting}`, { stop }))
  await child.start()
  const process = alive(child.status().pid)
  await child.stop()
  expect(isAlive(process)).toBe(false)
})

test('gives the child nothing of our environment, and the descriptors that it names', async () => {
  process.env.MILLRACE_TEST_SECRET = 'hunter2'
  const server = createServer().listen(join(directory, 'socket'))
  const child = supervise(
    shell(`env; echo "three: $(readlink /proc/self/fd/3 | cut -c1-6)"; ${waiting}`, {
      descriptors: () => [(server as unknown as { _handle: { fd: number } })._handle.fd],
      ready: async (starting) => {
        await starting.line(process.platform === 'linux' ? /^three: socket/ : /^three/)
        await expect(Promise.race([starting.line(/hunter2/), sleep(100).then(() => 'never')])).resolves.toBe(
          'never',
        )
      },
    }),
  )
  await child.start()
  server.close()
  delete process.env.MILLRACE_TEST_SECRET
})

/** Starts a process that supervises a child of its own, and waits until that child serves. */
async function supervisingProcess(
  changes: string,
): Promise<{ supervisor: ChildProcess; child: ProcessIdentity }> {
  const script = `
    import { superviseChild } from ${JSON.stringify(join(import.meta.dirname, 'supervisor.ts'))}
    import { silentLogger } from ${JSON.stringify(join(import.meta.dirname, '../logger.ts'))}
    const child = superviseChild(
      {
        name: 'example', command: 'sh', args: ['-c', ${JSON.stringify(waiting)}],
        environment: { PATH: '/usr/bin:/bin' }, pidFile: ${JSON.stringify(join(directory, 'example.pid'))},
        ready: async (starting) => void (await starting.line(/^up$/)), readyWithinMs: 5000,
        stop: [{ signal: 'SIGTERM', waitMs: 3000 }], ${changes}
      },
      { logger: silentLogger },
    )
    await child.start()
    console.log(child.status().pid)`
  const supervisor = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  foreign.push(supervisor)
  let output = ''
  supervisor.stdout?.on('data', (chunk) => {
    output += chunk
  })
  await until(() => output.includes('\n'))
  return { supervisor, child: alive(Number(output)) }
}

test('a child with a lifeline ends when its supervisor is killed', async () => {
  const { supervisor, child } = await supervisingProcess(
    `lifeline: true, args: ['-c', 'echo up; while read line; do :; done']`,
  )
  supervisor.kill('SIGKILL')
  await until(() => !isAlive(child))
  expect(isAlive(child)).toBe(false)
})

test.runIf(existsSync('/usr/bin/setpriv'))(
  'the kernel ends a child whose supervisor is killed (needs setpriv)',
  async () => {
    const { supervisor, child } = await supervisingProcess(`parentDeathSignal: 'SIGTERM'`)
    supervisor.kill('SIGKILL')
    await until(() => !isAlive(child))
    expect(isAlive(child)).toBe(false)
  },
)

test('stops the orphan of a supervisor that was killed this moment before it launches its own child', async () => {
  const { supervisor, child: orphan } = await supervisingProcess('')
  supervisor.kill('SIGKILL')
  expect(isAlive(orphan)).toBe(true)
  const child = supervise(shell(waiting))
  await child.start()
  expect(isAlive(orphan)).toBe(false)
  expect(child.status().pid).not.toBe(orphan.pid)
})

test('refuses to take the child of a supervisor that still runs', async () => {
  const { supervisor, child } = await supervisingProcess('')
  await expect(supervise(shell(waiting)).start()).rejects.toThrow(
    `example (process ${child.pid}) is in use by process ${supervisor.pid}`,
  )
  expect(isAlive(child)).toBe(true)
  process.kill(child.pid, 'SIGKILL')
})

test('never touches a process that was given the pid of an earlier child', async () => {
  const bystander = spawn('sleep', ['60'], { stdio: 'ignore' })
  foreign.push(bystander)
  const stranger = alive(bystander.pid)
  const earlier = { pid: stranger.pid, started: `${stranger.started}0` }
  writeFileSync(join(directory, 'example.pid'), JSON.stringify({ child: earlier, supervisor: earlier }))
  const child = supervise(shell(waiting))
  await child.start()
  await child.stop()
  expect(isAlive(stranger)).toBe(true)
})

test('starts in spite of a pid file that was torn', async () => {
  writeFileSync(join(directory, 'example.pid'), '{"child":{"pi')
  const child = supervise(shell(waiting))
  await child.start()
  expect(JSON.parse(readFileSync(join(directory, 'example.pid'), 'utf8')).child.pid).toBe(child.status().pid)
})

test('a process that exits without stopping its child still tells it to end', async () => {
  const { supervisor, child } = await supervisingProcess(
    `ready: async (starting) => { await starting.line(/^up$/); setTimeout(() => process.exit(0), 100) }`,
  )
  await until(() => supervisor.exitCode === 0)
  await until(() => !isAlive(child))
})
