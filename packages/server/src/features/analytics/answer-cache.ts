import { createHash } from 'node:crypto'
import type { Warning } from '@millrace/contract/envelope.ts'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import { unlessAborted } from '../../platform/limits/unless-aborted.ts'
import type { ResultFormat } from './query/result-writer.ts'
import type { Prepared } from './question.ts'

/** A whole answer, to be given again. */
export interface KeptAnswer {
  readonly text: string
  readonly warnings: readonly Warning[]
  readonly total?: number
}

/** How an answer that others wait for came out. */
export interface AnswerUnderWay {
  /** Without an answer those who wait try for themselves, with a failure they fail too. Only the first call counts. */
  end(answer?: KeptAnswer, failure?: unknown): void
}

const freshForMs = 10_000
/** Bytes of all answers, and of the largest. */
const maxBytes = 64 * 1024 * 1024
export const maxKeptBytes = 1024 * 1024

/** What a text takes at most, in the runtime's strings. */
export function bytesOf(text: string): number {
  return 2 * text.length
}

/** What was asked, of what, and how it is shown. */
export function answerKeyOf(
  { companyId, format }: { readonly companyId: string; readonly format: ResultFormat },
  { compiled, zone }: Prepared,
  version: string,
): string {
  const { sql, countSql, params, columns, rangeLabels } = compiled
  const parts = [companyId, format, zone.name, version, sql, countSql, params, columns, rangeLabels]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}

export function isKept(found: KeptAnswer | AnswerUnderWay): found is KeptAnswer {
  return 'text' in found
}

/** Whether the same question would fail again. */
export function isOfQuery(error: unknown): boolean {
  return error instanceof DomainError && (error.errorName === 'timeout' || error.errorName === 'tooComplex')
}

/**
 * Answers of the last seconds by what was asked and of which stored data. The key has the version of what was stored
 * when the question came, so that an answer is never older than that.
 */
export function createAnswerCache({ clock }: { readonly clock: Clock }) {
  const answers = new LRUCache<string, KeptAnswer>({
    maxSize: maxBytes,
    maxEntrySize: maxKeptBytes,
    sizeCalculation: ({ text }) => Math.max(1, bytesOf(text)),
    // The last millisecond at which an answer is given.
    ttl: freshForMs - 1,
    perf: clock,
    ttlResolution: 0,
  })
  const underWay = new Map<string, Promise<KeptAnswer | undefined>>()

  function begin(key: string): AnswerUnderWay {
    const at = clock.now()
    const { promise, resolve, reject } = Promise.withResolvers<KeptAnswer | undefined>()
    // No caller need wait for it.
    promise.catch(() => {})
    underWay.set(key, promise)
    return {
      end(answer, failure) {
        if (underWay.get(key) !== promise) return
        underWay.delete(key)
        answers.purgeStale()
        if (answer) answers.set(key, answer, { start: at })
        if (failure === undefined) resolve(answer)
        else reject(failure)
      },
    }
  }

  return {
    /**
     * The answer, kept or awaited from the caller who asks the same at this moment; nothing when it is to be computed, which
     * others then wait for until `end` is called.
     * @throws the failure that it was ended with; the signal's reason when it is aborted
     */
    async find(key: string, signal?: AbortSignal): Promise<KeptAnswer | AnswerUnderWay> {
      for (;;) {
        signal?.throwIfAborted()
        const known = answers.get(key)
        if (known) return known
        const other = underWay.get(key)
        if (!other) return begin(key)
        const answer = await unlessAborted(other, signal)
        if (answer) return answer
      }
    },
  }
}
