import { describe, expect, it } from 'vitest'
import { createGatheredAnswers, type Gathered } from './gathered-answers.ts'
import { createQueryLimiter } from './query/query-limiter.ts'
import type { RunTogether, SharedAnswer } from './shared-answers.ts'

const settings = { timezone: 'UTC', eventAliases: new Map(), visibleWorkflows: 'all', exactCounts: false }

const queryOf = (dimension: string, form = 'one', more: object = {}) =>
  ({
    ...{ form, settings: { ...settings, ...more } },
    ...{ query: { dimensions: [dimension] }, plan: {} },
  }) as unknown as Gathered

const answerOf = (text: string): SharedAnswer => ({ text, warnings: [] })

/** Gathers at one place, and answers with the dimensions of the queries. */
function open(run?: RunTogether) {
  const limiter = createQueryLimiter({ running: 1 })
  const statements: string[][] = []
  const signals: (AbortSignal | undefined)[] = []
  const gathered = createGatheredAnswers({
    limiter,
    runTogether: async (work) => {
      const names = work.members.map(({ query }) => query.dimensions?.[0] ?? '')
      statements.push(names)
      signals.push(work.signal)
      return run ? run(work) : names.map(answerOf)
    },
  })
  const ask = (member: Gathered, signal?: AbortSignal, companyId = 'company', userId = 'user') =>
    gathered.ask(member, { companyId, userId, ...(signal && { signal }) })
  return { limiter, statements, signals, ask }
}

describe('queries of one form', () => {
  it('that are asked at one moment are answered by one statement', async () => {
    const { ask, statements } = open()
    const outcomes = await Promise.all(['a', 'b', 'c'].map((name) => ask(queryOf(name))))
    expect(outcomes).toEqual(['a', 'b', 'c'].map((name) => ({ answer: answerOf(name) })))
    expect(statements).toEqual([['a', 'b', 'c']])
  })

  it('join while the first waits for its place, and others begin a statement of their own', async () => {
    const { ask, limiter, statements } = open()
    const leave = await limiter.enter('company')
    const first = ask(queryOf('a'))
    await new Promise((resolve) => setTimeout(resolve, 30))
    const all = [first, ...Array.from({ length: 8 }, (_, i) => ask(queryOf(`b${i}`)))]
    leave()
    await Promise.all(all.slice(0, 8))
    const last = await all[8]
    expect(statements).toEqual([['a', ...Array.from({ length: 7 }, (_, i) => `b${i}`)]])
    expect(last).toHaveProperty('leave')
  })

  it('is computed alone, at the place that was found, where no other has joined', async () => {
    const { ask, limiter, statements } = open()
    const outcome = await ask(queryOf('a'))
    const next = limiter.enter('company')
    expect('leave' in outcome && outcome.leave).toBeTypeOf('function')
    if ('leave' in outcome) outcome.leave?.()
    await next
    expect(statements).toEqual([])
  })

  it.each([
    ['another form', queryOf('b', 'two'), 'company'],
    ['another zone', queryOf('b', 'one', { timezone: 'Europe/Paris' }), 'company'],
    ['other names of events', queryOf('b', 'one', { eventAliases: new Map([['x', 'y']]) }), 'company'],
    ['another sight of workflows', queryOf('b', 'one', { visibleWorkflows: [] }), 'company'],
    ['another company', queryOf('b'), 'other'],
    ['another user', queryOf('b'), 'company', 'other'],
  ])('are apart where they have %s', async (_, other, companyId, userId = 'user') => {
    const { ask, statements } = open()
    const take = async (outcome: ReturnType<typeof ask>) => {
      const found = await outcome
      if ('leave' in found) found.leave?.()
    }
    await Promise.all([take(ask(queryOf('a'))), take(ask(other, undefined, companyId, userId))])
    expect(statements).toEqual([])
  })

  it('are computed alone where one statement fails', async () => {
    const { ask, limiter } = open(() => Promise.reject(new Error('too much')))
    const outcomes = await Promise.all([ask(queryOf('a')), ask(queryOf('b'))])
    expect(outcomes).toEqual([{ leave: undefined }, { leave: undefined }])
    const leave = await limiter.enter('company')
    leave()
  })
})

describe('who leaves', () => {
  it('does not end what others wait for, and the statement ends with the last', async () => {
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const { ask, signals } = open(async ({ members, signal }) => {
      begun.resolve()
      signal?.addEventListener('abort', () => end.reject(signal.reason))
      await end.promise
      return members.map(() => answerOf('x'))
    })
    const [one, two] = [new AbortController(), new AbortController()]
    const asked = [ask(queryOf('a'), one.signal), ask(queryOf('b'), two.signal)]
    await begun.promise
    one.abort(new Error('left'))
    await expect(asked[0]).rejects.toThrow('left')
    expect(signals[0]?.aborted).toBe(false)
    two.abort(new Error('left too'))
    await expect(asked[1]).rejects.toThrow('left too')
    expect(signals[0]?.aborted).toBe(true)
  })

  it('before the statement begins is not asked for, and keeps no place', async () => {
    const { ask, limiter, statements } = open()
    const leave = await limiter.enter('company')
    const gone = new AbortController()
    const left = ask(queryOf('a'), gone.signal)
    const rest = [ask(queryOf('b')), ask(queryOf('c'))]
    gone.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    leave()
    await Promise.all(rest)
    expect(statements).toEqual([['b', 'c']])
    const again = await limiter.enter('company')
    again()
  })

  it('finds a place alone where too much waits, and is refused there', async () => {
    const limiter = createQueryLimiter({ running: 1, waiting: 0 })
    const gathered = createGatheredAnswers({ limiter, runTogether: async () => [] })
    const leave = await limiter.enter('company')
    const asked = [queryOf('a'), queryOf('b')].map((query) => gathered.ask(query, { companyId: 'company' }))
    for (const each of asked) expect(await each).toEqual({ leave: undefined })
    leave()
  })
})
