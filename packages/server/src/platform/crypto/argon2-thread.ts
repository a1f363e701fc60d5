import type { Argon2Parameters } from 'node:crypto'
import { argon2Sync } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'

// One thread of `createArgon2Threads`.

/** A request to the thread. */
export interface Argon2Job {
  readonly id: number
  readonly parameters: Omit<Argon2Parameters, 'message' | 'nonce'> & {
    readonly message: Uint8Array
    readonly nonce: Uint8Array
  }
}

export type Argon2Result =
  | { readonly id: number; readonly tag: Uint8Array }
  | { readonly id: number; readonly failure: string }

/** Linux keeps a priority for each thread; elsewhere hashing has that of the service. */
function yieldToOthers(niceness: number): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (thread > 0) setPriority(thread, niceness)
  } catch {
    // No such file outside Linux.
  }
}

yieldToOthers((workerData as { niceness: number }).niceness)

parentPort?.on('message', ({ id, parameters }: Argon2Job) => {
  let result: Argon2Result
  try {
    result = { id, tag: argon2Sync('argon2id', parameters) }
  } catch (error) {
    result = { id, failure: (error as Error).message }
  }
  parentPort?.postMessage(result)
})
