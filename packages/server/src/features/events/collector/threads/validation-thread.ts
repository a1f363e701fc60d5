import { parentPort } from 'node:worker_threads'
import { DomainError, type DomainErrorOptions } from '../../../../platform/errors.ts'
import { type RefusedPersons, refusalTest } from '../../persons/refused-persons.ts'
import type { RowContext } from '../rows/event-row.ts'
import { type LineBytes, lineBytesOf } from '../rows/line-bytes.ts'
import { type ValidatedRequest, validateRequest } from '../validate-request.ts'
import { type BodyForm, readEvents } from './body-form.ts'

// One thread of `createValidationThreads`.

/** A request to the thread. */
export interface ValidationJob {
  readonly id: number
  readonly body: ArrayBuffer
  readonly form: BodyForm
  readonly origin: RowContext & { readonly requiresConsent: boolean }
  readonly senderText: string
  /** Of the company of `origin`, where the thread does not have them yet. */
  readonly refused?: RefusedPersons | 'none'
}

/** What becomes of a request, for the main thread to number and to append. */
export interface Validated extends Omit<ValidatedRequest, 'rows'> {
  readonly lines: LineBytes
  /** What was validated. */
  readonly body: ArrayBuffer
  /** Names of kept events, each once. */
  readonly names: readonly string[]
}

export type ValidationResult =
  | { readonly id: number; readonly validated: Validated }
  /** A `DomainError`, which cannot be sent as such. */
  | {
      readonly id: number
      readonly refusal: Pick<DomainError, 'errorName' | 'data'> & Pick<DomainErrorOptions, 'message'>
    }
  | { readonly id: number; readonly failure: string }

const refusedPersons = new Map<string, RefusedPersons>()

function validate({ body, form, origin, senderText }: ValidationJob): Validated {
  const names = new Set<string>()
  const seeName = (name: string): boolean => {
    names.add(name)
    return false
  }
  const refused = refusedPersons.get(origin.companyId)
  const { rows, ...counts } = validateRequest(
    readEvents(Buffer.from(body), form, origin),
    origin,
    senderText,
    seeName,
    undefined,
    undefined,
    refused && refusalTest(refused),
  )
  return { ...counts, body, lines: lineBytesOf(rows), names: [...names] }
}

parentPort?.on('message', (job: ValidationJob) => {
  const { id, body, refused, origin } = job
  if (refused === 'none') refusedPersons.delete(origin.companyId)
  else if (refused !== undefined) refusedPersons.set(origin.companyId, refused)
  let result: ValidationResult
  const moved: ArrayBuffer[] = []
  try {
    const validated = validate(job)
    result = { id, validated }
    moved.push(body, validated.lines.bytes.buffer, validated.lines.starts.buffer)
  } catch (error) {
    if (error instanceof DomainError) {
      const { errorName, data, localizedMessage, message }: DomainError = error
      result = { id, refusal: { errorName, data, message: localizedMessage ?? message } }
    } else result = { id, failure: (error as Error).message }
  }
  parentPort?.postMessage(result, moved)
})
