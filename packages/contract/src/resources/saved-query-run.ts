import { type Static, Type } from 'typebox'
import { dateTime, id, oneOf, strict } from './formats.ts'

export const savedQueryRunStates = ['queued', 'running', 'delivered', 'failed', 'missed'] as const

const RunResult = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'Which of the queries, from 0' }),
    fileName: Type.String({ examples: ['Purchases by day.csv'] }),
    rows: Type.Integer({ minimum: 0, description: 'Rows of the CSV without its header' }),
    bytes: Type.Integer({ minimum: 0 }),
    isCut: Type.Optional(
      Type.Boolean({ description: 'True where the query has more rows, which its limit leaves out' }),
    ),
  },
  strict,
)

const RunMessage = Type.Object(
  {
    linkedAccountId: id('Linked account'),
    state: oneOf(['queued', 'sent', 'failed']),
    attempts: Type.Integer({ minimum: 0 }),
    reason: Type.Optional(Type.String({ description: 'Why the last attempt failed' })),
  },
  strict,
)

/** One entry of the ledger of runs. */
export const SavedQueryRun = Type.Object(
  {
    id: id('Identifier of the run'),
    savedQueryId: id('Saved query that it ran'),
    trigger: oneOf(['schedule', 'manual'], {
      description: 'Whether it was planned, or asked for with `POST .../run`',
    }),
    plannedFor: dateTime('The planned time; relative ranges of the queries are read as of it'),
    state: oneOf(savedQueryRunStates, {
      description:
        '`missed`: the service was down or an earlier run had not ended, and a later planned time ran in its place',
    }),
    attempts: Type.Integer({ minimum: 0, description: 'How often it was begun' }),
    startedAt: Type.Optional(dateTime('When the last attempt began')),
    endedAt: Type.Optional(dateTime('When its state became final')),
    rows: Type.Integer({ minimum: 0, description: 'Rows of all results' }),
    bytes: Type.Integer({ minimum: 0, description: 'Bytes of all results as CSV' }),
    recipients: Type.Array(Type.String({ examples: ['ada@example.com'] }), {
      description: 'Addresses that a mail was queued for',
    }),
    messages: Type.Array(RunMessage, { description: 'What became of the messages to linked accounts' }),
    results: Type.Array(RunResult, {
      description: 'One for each query, as `GET .../results/{index}` gives them until `resultsUntil`',
    }),
    resultsUntil: Type.Optional(dateTime('When the results are deleted; absent when there are none')),
    reason: Type.Optional(
      Type.String({ description: 'Why the last attempt failed, or what the run left out' }),
    ),
  },
  { ...strict, title: 'SavedQueryRun' },
)
export type SavedQueryRun = Static<typeof SavedQueryRun>
