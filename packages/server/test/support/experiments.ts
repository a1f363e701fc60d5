import type { Experiment, ExperimentCreation } from '@millrace/contract/resources/experiment.ts'
import { type AccountsApp, createAccountsApp, type Person, type Reply } from './accounts.ts'
import type { Body } from './auth.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'

/** A body that creates an experiment of two variants with one metric. */
export const experimentBody = (fields: Partial<ExperimentCreation> = {}): ExperimentCreation => ({
  name: 'New product page',
  variants: [
    { id: 'control', name: 'Present page', allocation: 0.5 },
    { id: 'treatment', name: 'New page', allocation: 0.5 },
  ],
  metrics: [{ id: 'orders', kind: 'unique_conversion', source: { purchases: true } }],
  ...fields,
})

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** An answer about one experiment. */
export type ExperimentReply = Omit<Reply, 'data'> & { readonly data: Experiment }

/** Two companies, each with an administrator, and calls below the address of experiments. */
export interface ExperimentsApp {
  readonly relational: TestDatabase
  readonly app: AccountsApp
  readonly admin: Person
  /** Administrator of the other company. */
  readonly stranger: Person
  /** Calls an operation, as the administrator unless a token is given. */
  call(method: Method, path: string, body?: unknown, token?: string): Promise<Reply>
  /** Creates one. */
  create(fields?: Partial<ExperimentCreation>, token?: string): Promise<Experiment>
  read(experiment: Experiment): Promise<Experiment>
  patch(experiment: Experiment, body: unknown, token?: string): Promise<ExperimentReply>
  /** Does something to it. */
  act(experiment: Experiment, deed: string, body?: unknown, token?: string): Promise<ExperimentReply>
  /** Takes it as far as to this state, from draft. */
  take(experiment: Experiment, to: Experiment['status']): Promise<Experiment>
  close(): Promise<void>
}

/** Deeds that lead from draft to each state. */
const ways = {
  draft: [],
  scheduled: ['schedule'],
  running: ['start'],
  ended: ['start', 'end'],
  decided: ['start', 'end', 'decide'],
  archived: ['start', 'end', 'decide', 'archive'],
} as const

export async function openExperimentsApp(
  options: Parameters<typeof createAccountsApp>[1] = {},
): Promise<ExperimentsApp> {
  const relational = await createTestDatabase()
  const app = await createAccountsApp(relational, options)
  const admin = await app.person('admin')
  const stranger = await app.person('admin', app.other.companyId)

  async function call(method: Method, path: string, body?: unknown, token = admin.token): Promise<Reply> {
    const reply = await app.auth.call(token, method, `/v2/statistics/experiments${path}`, body as Body)
    return { ...reply.json(), status: reply.statusCode }
  }
  const ofOne = async (...asked: Parameters<typeof call>) =>
    (await call(...asked)) as unknown as ExperimentReply
  async function succeed(reply: Promise<ExperimentReply>): Promise<Experiment> {
    const { status, data, message } = await reply
    if (status !== 200) throw new Error(message)
    return data
  }
  const act = (experiment: Experiment, deed: string, body?: unknown, token?: string) =>
    ofOne('POST', `/${experiment._id}/${deed}`, body, token)
  const bodies: Partial<Record<string, () => unknown>> = {
    schedule: () => ({ scheduledAt: new Date(relational.time.clock.now() + 3_600_000).toISOString() }),
    decide: () => ({ routingVariantId: 'treatment' }),
  }

  return {
    relational,
    app,
    admin,
    stranger,
    call,
    act,
    create: (fields, token) => succeed(ofOne('POST', '', experimentBody(fields), token)),
    read: (experiment) => succeed(ofOne('GET', `/${experiment._id}`)),
    patch: (experiment, body, token) => ofOne('PATCH', `/${experiment._id}`, body, token),
    async take(experiment, to) {
      let taken = experiment
      for (const deed of ways[to]) taken = await succeed(act(experiment, deed, bodies[deed]?.()))
      return taken
    },
    async close() {
      await app.app.close()
      await relational.close()
    },
  }
}
