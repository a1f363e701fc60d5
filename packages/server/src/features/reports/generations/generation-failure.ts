import { DomainError } from '../../../platform/errors.ts'
import { GenerationFailure } from '../generator/generation.ts'

/** Codes of failed generations, each with its message and whether another attempt may succeed. */
const failures = {
  'service-ended': {
    retryable: true,
    message: 'The service ended during every attempt',
  },
  'no-data': {
    retryable: true,
    message: 'No query of the report was answered',
  },
  'too-busy': {
    retryable: true,
    message: 'Your company asks more than it may at once: try again later',
  },
  unavailable: {
    retryable: true,
    message: 'The service could not read the events',
  },
  internal: {
    retryable: true,
    message: 'The service had a failure of its own, which is in its log',
  },
  'rights-lost': {
    retryable: false,
    message: 'Who asked for it is no longer an active user with the permission Statistics: access',
  },
  archived: {
    retryable: false,
    message: 'The report was archived before the generation ended',
  },
  'too-large': {
    retryable: false,
    message: 'The report rests on more data than it may hold: ask for less',
  },
  unproven: {
    retryable: false,
    message: 'A text does not follow from the evidence or contradicts another, so that nothing was published',
  },
  refused: {
    retryable: false,
    message: 'What was asked cannot be answered',
  },
} as const

export type FailureCode = keyof typeof failures

export interface Failure {
  readonly code: FailureCode
  readonly message: string
  readonly retryable: boolean
}

/** @param message replaces the general one where a case can be more precise */
export function failureOf(code: FailureCode, message: string = failures[code].message): Failure {
  return { code, message, retryable: failures[code].retryable }
}

/** An attempt that no further one can help. */
export class GenerationRefused extends Error {
  override readonly name = 'GenerationRefused'
  readonly failure: Failure
  constructor(code: FailureCode, message?: string) {
    const failure = failureOf(code, message)
    super(failure.message)
    this.failure = failure
  }
}

/** Failures of queries that the same query may not have later. */
const passing: ReadonlySet<string> = new Set(['unavailable', 'timeout', 'tooManyRequests', 'internal'])

/** What users may know of an error; failures inside the service are in its log. */
export function failureOfError(error: unknown): Failure {
  if (error instanceof GenerationRefused) return error.failure
  if (error instanceof GenerationFailure) {
    const code = passing.has(error.code) ? 'no-data' : 'refused'
    return failureOf(code, `No query was answered: ${error.message}`)
  }
  if (!(error instanceof DomainError)) return failureOf('internal')
  if (error.errorName === 'tooManyRequests') return failureOf('too-busy')
  return error.status < 500 ? failureOf('refused', error.message) : failureOf('unavailable', error.message)
}
