import { setTimeout as sleep } from 'node:timers/promises'
import type { Semaphore } from '../../../platform/limits/semaphore.ts'
import { unlessAborted } from '../../../platform/limits/unless-aborted.ts'

/** What can be answered together: by one statement, of one company. */
export interface BatchGroup {
  readonly companyId: string
  /** Different for different groups. */
  readonly key: string
}

export interface BatcherLimits {
  /** For how long requests are gathered. */
  readonly windowMs: number
  /** Items of one statement. */
  readonly perStatement: number
  /** Items that wait to be asked: of one company, and of all. */
  readonly waitingOfCompany: number
  readonly waiting: number
  /** For how long a statement is waited for. */
  readonly statementMs: number
}

export interface BatcherOptions<Group extends BatchGroup, Item, Value> {
  /** Answers the items in their order. */
  readonly answer: (group: Group, items: readonly Item[], signal: AbortSignal) => Promise<readonly Value[]>
  /** Statements at once; companies take turns. */
  readonly statements: Pick<Semaphore, 'acquire'>
  readonly limits: BatcherLimits
}

/**
 * Gathers requests of the same moment into one statement. What is asked already is waited for, not asked again; what no
 * caller waits for any longer is not asked. A statement that runs goes on without callers, for `statementMs` at most:
 * its answer serves those who ask next.
 */
export interface Batcher<Group extends BatchGroup, Item, Value> {
  /**
   * @param key names the item within the group
   * @throws {TooManyAsked} at once when too much waits; the signal's reason when it aborts; what `answer` throws
   */
  ask(group: Group, key: string, item: Item, signal: AbortSignal): Promise<Value>
}

/** More waits to be asked about persons than the engine can answer in time. */
export class TooManyAsked extends Error {
  override readonly name = 'TooManyAsked'

  constructor(limit: number) {
    super(`${limit} questions about persons wait already: more would not be answered in time`)
  }
}

interface Entry<Item, Value> {
  readonly key: string
  readonly item: Item
  readonly answer: PromiseWithResolvers<Value>
  callers: number
}

interface Queue<Group, Item, Value> {
  readonly group: Group
  /** What waits or runs, by its key. */
  readonly entries: Map<string, Entry<Item, Value>>
  readonly waiting: Set<Entry<Item, Value>>
  isServed: boolean
}

export function createBatcher<Group extends BatchGroup, Item, Value>({
  answer,
  statements,
  limits,
}: BatcherOptions<Group, Item, Value>): Batcher<Group, Item, Value> {
  type OwnEntry = Entry<Item, Value>
  type OwnQueue = Queue<Group, Item, Value>
  const queues = new Map<string, OwnQueue>()
  const waitingOf = new Map<string, number>()
  let waiting = 0

  function countWaiting(companyId: string, number: number): void {
    waiting += number
    const count = (waitingOf.get(companyId) ?? 0) + number
    if (count > 0) waitingOf.set(companyId, count)
    else waitingOf.delete(companyId)
  }

  function queueOf(group: Group): OwnQueue {
    const queue = queues.get(group.key) ?? { group, entries: new Map(), waiting: new Set(), isServed: false }
    queues.set(group.key, queue)
    return queue
  }

  function dropIdle(queue: OwnQueue): void {
    if (queue.entries.size === 0 && !queue.isServed) queues.delete(queue.group.key)
  }

  function add(queue: OwnQueue, key: string, item: Item): OwnEntry {
    const { companyId } = queue.group
    if (waiting >= limits.waiting) throw new TooManyAsked(limits.waiting)
    if ((waitingOf.get(companyId) ?? 0) >= limits.waitingOfCompany)
      throw new TooManyAsked(limits.waitingOfCompany)
    const entry: OwnEntry = { key, item, answer: Promise.withResolvers(), callers: 0 }
    // A failure is for the callers who still wait.
    entry.answer.promise.catch(() => {})
    queue.entries.set(key, entry)
    queue.waiting.add(entry)
    countWaiting(companyId, 1)
    return entry
  }

  function forget(queue: OwnQueue, entry: OwnEntry): void {
    if (queue.entries.get(entry.key) === entry) queue.entries.delete(entry.key)
    if (queue.waiting.delete(entry)) countWaiting(queue.group.companyId, -1)
  }

  function leave(queue: OwnQueue, entry: OwnEntry): void {
    entry.callers--
    if (entry.callers > 0 || !queue.waiting.has(entry)) return
    forget(queue, entry)
    dropIdle(queue)
  }

  async function serve(queue: OwnQueue): Promise<void> {
    queue.isServed = true
    try {
      await sleep(limits.windowMs)
      while (queue.waiting.size > 0) {
        // More gather while all statements run.
        const release = await statements.acquire({ holders: [queue.group.companyId] })
        const entries = [...queue.waiting].slice(0, limits.perStatement)
        if (entries.length === 0) release()
        else void run(queue, entries).finally(release)
      }
    } catch (error) {
      for (const entry of [...queue.waiting]) {
        forget(queue, entry)
        entry.answer.reject(error)
      }
    } finally {
      queue.isServed = false
      dropIdle(queue)
    }
  }

  /** Never rejects. */
  async function run(queue: OwnQueue, entries: readonly OwnEntry[]): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    const late = () => controller.abort(new Error(`no answer within ${limits.statementMs} ms`))
    const timer = setTimeout(late, limits.statementMs)
    for (const entry of entries) {
      if (queue.waiting.delete(entry)) countWaiting(queue.group.companyId, -1)
    }
    const end = (settle: (entry: OwnEntry, place: number) => void): void => {
      for (const [place, entry] of entries.entries()) {
        forget(queue, entry)
        settle(entry, place)
      }
      dropIdle(queue)
    }
    // Callers do not wait for an engine that does not even notice the cancellation.
    signal.addEventListener('abort', () => end(({ answer: { reject } }) => reject(signal.reason)))
    try {
      const items = entries.map(({ item }) => item)
      const values = await answer(queue.group, items, signal)
      end((entry, place) => entry.answer.resolve(values[place] as Value))
    } catch (error) {
      end((entry) => entry.answer.reject(error))
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async ask(group, key, item, signal) {
      signal.throwIfAborted()
      const queue = queueOf(group)
      let entry = queue.entries.get(key)
      try {
        entry ??= add(queue, key, item)
      } finally {
        dropIdle(queue)
      }
      entry.callers++
      if (!queue.isServed && queue.waiting.size > 0) void serve(queue)
      return await unlessAborted(entry.answer.promise, signal, () => leave(queue, entry))
    },
  }
}
