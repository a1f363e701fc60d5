import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readStatFields } from './proc-stat.ts'

/** A process that cannot be taken for another one: a pid is given again, a pid with its start time is not. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in the words of the system; equal texts mean the same process. */
  readonly started: string
}

let bootId: string | undefined

/** Start ticks begin anew with every boot, so that the boot is part of a start time. */
function currentBoot(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  return bootId
}

export function linuxStat(pid: number): { state: string; parent: number; startTicks: string } | undefined {
  try {
    const fields = readStatFields(`/proc/${pid}/stat`)
    return { state: fields[0] ?? '', parent: Number(fields[1]), startTicks: fields[19] ?? '' }
  } catch {
    return undefined
  }
}

function startedOnLinux(pid: number): string | undefined {
  const stat = linuxStat(pid)
  // A zombie holds nothing any more: its files, locks and memory are gone.
  if (stat === undefined || stat.state === 'Z' || stat.state === 'X') return undefined
  return `${currentBoot()}/${stat.startTicks}`
}

function startedElsewhere(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
    const [, state = '', started = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
    return state.startsWith('Z') || started === '' ? undefined : started
  } catch {
    return undefined
  }
}

/** The identity of a live process; undefined when there is none with this pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  const started = process.platform === 'linux' ? startedOnLinux(pid) : startedElsewhere(pid)
  return started === undefined ? undefined : { pid, started }
}

/** Whether exactly this process still lives. */
export function isAlive(process: ProcessIdentity): boolean {
  return identify(process.pid)?.started === process.started
}
