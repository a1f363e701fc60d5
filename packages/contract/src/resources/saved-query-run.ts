import { type Static, Type } from 'typebox'
import { count, dateTime, flag, id, like, listOf, named, object, oneOf, text } from './formats.ts'

export const savedQueryRunStates = ['queued', 'running', 'delivered', 'failed', 'missed'] as const

const RunResult = object({
  index: count('Which of the queries, from 0'),
  fileName: like('Purchases by day.csv'),
  rows: count('Rows of the CSV without its header'),
  bytes: Type.Integer({ minimum: 0 }),
  isCut: Type.Optional(flag('True where the query has more rows, which its limit leaves out')),
})

const RunMessage = object({
  linkedAccountId: id('Linked account'),
  state: oneOf(['queued', 'sent', 'failed']),
  attempts: Type.Integer({ minimum: 0 }),
  reason: Type.Optional(text('Why the last attempt failed')),
})

/** One entry of the ledger of runs. */
export const SavedQueryRun = named('SavedQueryRun', {
  id: id('Identifier of the run'),
  savedQueryId: id('Saved query that it ran'),
  trigger: oneOf(['schedule', 'manual'], 'Whether it was planned, or asked for with `POST .../run`'),
  plannedFor: dateTime('The planned time; relative ranges of the queries are read as of it'),
  state: oneOf(
    savedQueryRunStates,
    '`missed`: the service was down or an earlier run had not ended, and a later planned time ran in its place',
  ),
  attempts: count('How often it was begun'),
  startedAt: Type.Optional(dateTime('When the last attempt began')),
  endedAt: Type.Optional(dateTime('When its state became final')),
  rows: count('Rows of all results'),
  bytes: count('Bytes of all results as CSV'),
  recipients: listOf(like('ada@example.com'), 'Addresses that a mail was queued for'),
  messages: listOf(RunMessage, 'What became of the messages to linked accounts'),
  results: listOf(
    RunResult,
    'One for each query, as `GET .../results/{index}` gives them until `resultsUntil`',
  ),
  resultsUntil: Type.Optional(dateTime('When the results are deleted; absent when there are none')),
  reason: Type.Optional(text('Why the last attempt failed, or what the run left out')),
})
export type SavedQueryRun = Static<typeof SavedQueryRun>
