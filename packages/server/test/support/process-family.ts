import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readStatFields } from '../../src/platform/processes/proc-stat.ts'

/** One process of a service. */
export interface FamilyMember {
  readonly pid: number
  readonly program: string
  /** Resident memory in MiB; pages that processes share count in each. */
  readonly rss: number
  /** MiB, in which each shared page is divided among those that have it. */
  readonly pss: number
  /** Milliseconds of processor time so far, with those of children that have ended. */
  readonly processorMs: number
}

/** USER_HZ of proc(5). */
const tickMs = 10

function proportionalOf(pid: number): number {
  const [, kibibytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')) ?? []
  return Number(kibibytes) / 1024
}

/** Fields 14 to 17 of proc(5): of the process, and of its children that were waited for. */
function processorOf(pid: number): number {
  const times = readStatFields(`/proc/${pid}/stat`).slice(11, 15)
  return times.reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0)
}

/** A process with all that come from it, on Linux. */
export function readFamily(pid: number): FamilyMember[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,rss=,args='], { encoding: 'utf8' }).split('\n')
  const all = lines.map((line) => {
    const [, id, parent, rss, args] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return { pid: Number(id), parent: Number(parent), rss: Number(rss) / 1024, program: args ?? '' }
  })
  const family = new Set([pid])
  for (let grown = true; grown; ) {
    grown = false
    for (const each of all) {
      if (family.has(each.parent) && !family.has(each.pid)) {
        family.add(each.pid)
        grown = true
      }
    }
  }
  return all.flatMap((each) => {
    if (!family.has(each.pid)) return []
    try {
      const { parent: _, ...member } = each
      return [{ ...member, pss: proportionalOf(each.pid), processorMs: processorOf(each.pid) }]
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}
