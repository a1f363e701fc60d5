import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { identify, type ProcessIdentity } from './identity.ts'

/** What is kept about a running child for the next start. */
export interface PidRecord {
  readonly child: ProcessIdentity
  /** The process that supervises the child. */
  readonly supervisor: ProcessIdentity
}

function isIdentity(value: unknown): value is ProcessIdentity {
  const each = value as Partial<ProcessIdentity> | null
  return typeof each === 'object' && typeof each?.pid === 'number' && typeof each.started === 'string'
}

/** Written atomically. A child that has ended already is not recorded. */
export function writePidFile(path: string, pid: number): ProcessIdentity | undefined {
  const child = identify(pid)
  const supervisor = identify(process.pid)
  if (child === undefined || supervisor === undefined) return undefined
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify({ child, supervisor } satisfies PidRecord)}\n`, { mode: 0o600 })
  renameSync(draft, path)
  return child
}

/** Undefined when there is no file or when it cannot be understood: then nothing may be concluded from it. */
export function readPidFile(path: string): PidRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8')) as Partial<PidRecord>
    return isIdentity(record.child) && isIdentity(record.supervisor)
      ? { child: record.child, supervisor: record.supervisor }
      : undefined
  } catch {
    return undefined
  }
}

export function removePidFile(path: string): void {
  rmSync(path, { force: true })
}
