import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { readStatFields } from './proc-stat.ts'

/** A process that cannot be taken for another one: a pid is given again, a pid with its start time is not. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in the words of the system; equal texts mean the same process. */
  readonly started: string
}

let bootId: string | undefined

/** Start ticks restart with every boot, so that the boot is part of a start time. */
function currentBoot(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return bootId
}

/** What Linux's /proc/PID/stat says of a process (proc(5)). */
interface LinuxStat {
  readonly state: string
  readonly parent: number
  readonly startTicks: string
  /** Threads that are left, the main one included. */
  readonly threads: number
  /** The kernel is taking its main thread apart. */
  readonly isExiting: boolean
}

/** `PF_EXITING` of the kernel's sched.h, in the field `flags`. */
const exitingFlag = 0x4

export function linuxStat(pid: number): LinuxStat | undefined {
  try {
    const fields = readStatFields(`/proc/${pid}/stat`)
    return {
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      startTicks: fields[19] ?? '',
      threads: Number(fields[17]),
      isExiting: (Number(fields[6]) & exitingFlag) !== 0,
    }
  } catch {
    return undefined
  }
}

/** Whether SIGKILL was sent to it: it computes nothing more, even where the kernel has not begun to end it. */
function isKilled(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const pending = [...status.matchAll(/^(?:Sig|Shd)Pnd:\s*([0-9a-f]+)$/gm)].map(([, bits]) =>
      BigInt(`0x${bits}`),
    )
    return pending.some((bits) => (bits & (1n << BigInt(constants.signals.SIGKILL - 1))) !== 0n)
  } catch {
    return true
  }
}

/**
 * `running`: may still do something. `ending`: computes nothing more, but the kernel may not have given back its
 * files, locks and memory yet. `gone`: holds nothing; a zombie is, though its number stays taken until it is collected.
 */
type Condition = 'running' | 'ending' | 'gone'

interface Found {
  readonly started: string
  readonly condition: Condition
}

const gone: Found = { started: '', condition: 'gone' }

function findOnLinux(pid: number): Found {
  const stat = linuxStat(pid)
  if (stat === undefined) return gone
  const started = `${currentBoot()}/${stat.startTicks}`
  if (stat.state === 'Z' || stat.state === 'X') {
    // The main thread may be done before others, which share its files.
    return { started, condition: stat.threads > 1 ? 'ending' : 'gone' }
  }
  return { started, condition: stat.isExiting || isKilled(pid) ? 'ending' : 'running' }
}

function findElsewhere(pid: number): Found {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    const [, state = '', started = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
    if (state.startsWith('Z') || started === '') return gone
    return { started, condition: state.includes('E') ? 'ending' : 'running' }
  } catch {
    return gone
  }
}

function find(pid: number): Found {
  if (!Number.isSafeInteger(pid) || pid <= 0) return gone
  return process.platform === 'linux' ? findOnLinux(pid) : findElsewhere(pid)
}

/** The identity of a process; undefined when there is none with this pid, or it is gone. */
export function identify(pid: number): ProcessIdentity | undefined {
  const { started, condition } = find(pid)
  return condition === 'gone' ? undefined : { pid, started }
}

/** What has become of exactly this process. */
function conditionOf({ pid, started }: ProcessIdentity): Condition {
  const found = find(pid)
  return found.started === started ? found.condition : 'gone'
}

/** Whether exactly this process may still do something. */
export function isRunning(process: ProcessIdentity): boolean {
  return conditionOf(process) === 'running'
}

/** Whether exactly this process may still hold something. */
export function isAlive(process: ProcessIdentity): boolean {
  return conditionOf(process) !== 'gone'
}
