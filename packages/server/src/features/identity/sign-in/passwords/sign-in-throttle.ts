import {
  bucketKey,
  type SqlBucket,
  type SqlBucketState,
} from '../../../../platform/limits/sql-leaky-bucket.ts'

/**
 * How many failures are free and what the ones beyond cost. Failures fill a bucket that time drains: `free`
 * at once, one more every `drainSeconds`. A failure that fills the bucket delays the next attempt by one
 * second, each further one by twice as long, up to `maxDelaySeconds`.
 */
export interface Allowance {
  readonly free: number
  readonly drainSeconds: number
  readonly maxDelaySeconds: number
}

export interface ThrottlePolicy {
  /** One account from one address: what stops a guesser without touching the owner elsewhere. */
  readonly accountFromAddress: Allowance
  /** One account from everywhere; it takes several addresses to reach. */
  readonly account: Allowance
  /** One address for all accounts; of IPv6 one /64. */
  readonly address: Allowance
  /** One /48 of IPv6, in which one customer may have 65,536 networks. */
  readonly site: Allowance
  readonly everything: Allowance
}

const quarterHour = 900

export const defaultPolicy: ThrottlePolicy = Object.freeze({
  accountFromAddress: { free: 10, drainSeconds: quarterHour, maxDelaySeconds: quarterHour },
  account: { free: 100, drainSeconds: quarterHour / 100, maxDelaySeconds: quarterHour },
  address: { free: 50, drainSeconds: 72, maxDelaySeconds: quarterHour },
  site: { free: 200, drainSeconds: 18, maxDelaySeconds: quarterHour },
  everything: { free: 1000, drainSeconds: quarterHour / 1000, maxDelaySeconds: 60 },
})

/** One bucket that an attempt counts in. */
export interface Bucket extends SqlBucket {
  readonly scope: keyof ThrottlePolicy
  readonly allowance: Allowance
}

/** The source of an attempt: `account` names the user, or what was typed for an unknown one. */
export interface Attempt {
  readonly account: string
  readonly network: string
  /** The /48 of an IPv6 address; otherwise the same as the network. */
  readonly site: string
  /** The living session, or the browser, of this same account that the request proves, if it does. */
  readonly proof: { readonly kind: 'session' | 'device'; readonly id: string } | undefined
}

export interface Buckets {
  /** What others cannot fill from elsewhere: it holds each attempt, also from where the user has signed in. */
  readonly near: readonly Bucket[]
  /** What anyone can fill: it holds attempts from where the user has not signed in. */
  readonly far: readonly Bucket[]
}

/**
 * The buckets of an attempt, the same whether there is such an account or not. Who proves a session or a browser of
 * the account counts alone, so that the failures of others do not lock the owner out.
 */
export function bucketsOf({ account, network, site, proof }: Attempt, policy: ThrottlePolicy): Buckets {
  const bucket = (scope: keyof ThrottlePolicy, ...parts: readonly string[]): Bucket => ({
    scope,
    key: bucketKey(scope, ...parts),
    drainSeconds: policy[scope].drainSeconds,
    allowance: policy[scope],
  })
  if (proof) return { near: [bucket('accountFromAddress', account, proof.kind, proof.id)], far: [] }
  return {
    near: [bucket('accountFromAddress', account, network), bucket('address', network)],
    far: [
      ...(site === network ? [] : [bucket('site', site)]),
      bucket('account', account),
      bucket('everything'),
    ],
  }
}

/** Whether this many failures, drained in part, still fill the bucket; rounded up against the drained part. */
function failuresIn(state: SqlBucketState, allowance: Allowance): number {
  return Math.ceil(state.filledSeconds / allowance.drainSeconds - 1e-6)
}

/** Seconds until the bucket lets an attempt through; 0 when it does now. */
export function waitFor(state: SqlBucketState, allowance: Allowance): number {
  const beyond = failuresIn(state, allowance) - allowance.free
  if (beyond < 0) return 0
  const delay = Math.min(2 ** beyond, allowance.maxDelaySeconds)
  return Math.max(0, delay - state.sinceLastFillSeconds)
}

/** The longest wait among the buckets; those without a state are empty. */
export function maxWait(
  buckets: readonly Bucket[],
  states: readonly SqlBucketState[],
): { readonly seconds: number; readonly scope: keyof ThrottlePolicy | undefined } {
  let longest: { seconds: number; scope: keyof ThrottlePolicy | undefined } = { seconds: 0, scope: undefined }
  for (const { key, allowance, scope } of buckets) {
    const state = states.find((each) => each.key.equals(key))
    const seconds = state ? waitFor(state, allowance) : 0
    if (seconds > longest.seconds) longest = { seconds, scope }
  }
  return longest
}
