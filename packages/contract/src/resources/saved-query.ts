import { type Static, Type } from 'typebox'
import { revisionFields } from '../revision.ts'
import {
  dateTime,
  emailAddress,
  id,
  idPattern,
  nameText,
  nullable,
  oneOf,
  responseOnly,
  strict,
  timeOfDayPattern,
} from './formats.ts'
import { Query } from './query.ts'

/** Beyond docs/interface.md. */
const extension = { 'x-millrace-extension': true } as const

/** When a saved query runs and who gets the result; an empty object means never (docs/interface.md, Saved queries). */
export const Schedule = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean({ description: 'Whether runs happen' })),
    frequency: Type.Optional(oneOf(['daily', 'weekly', 'monthly', 'custom'])),
    time: Type.Optional(
      Type.String({
        pattern: timeOfDayPattern,
        description: 'Time of day, `HH:MM` in `timezone`',
        examples: ['07:30'],
      }),
    ),
    weekdays: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
        maxItems: 7,
        uniqueItems: true,
        description: 'For `weekly`: 1 is Monday, 7 is Sunday',
      }),
    ),
    days: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 31 }), {
        maxItems: 31,
        uniqueItems: true,
        description:
          'For `monthly`: days of the month; what a month does not have runs on its last day, and no day runs twice',
      }),
    ),
    cron: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'For `custom`: minute, hour, day of month, month, day of week (0 and 7 are Sunday); runs are at least 5 minutes apart',
        examples: ['0 7 * * 1-5'],
      }),
    ),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'IANA name; the company’s time zone when absent',
        examples: ['Europe/Paris'],
      }),
    ),
    recipients: Type.Optional(
      Type.Array(emailAddress('Who gets the result'), {
        maxItems: 50,
        uniqueItems: true,
        description:
          'Addresses that the results are mailed to: of active users of the company, or of its verified domains',
      }),
    ),
    linkedAccounts: Type.Optional(
      Type.Array(id('One of your linked accounts'), {
        maxItems: 20,
        uniqueItems: true,
        description: 'Linked accounts of your own that are sent a message with a link to the results',
        ...extension,
      }),
    ),
    format: Type.Optional(oneOf(['csv'], { description: 'Form of the result' })),
  },
  { ...strict, title: 'Schedule', description: 'When the queries run; `{}` means never' },
)
export type Schedule = Static<typeof Schedule>

const name = nameText('Name of the saved query', 200, { examples: ['Purchases by day'] })
const queries = Type.Array(Query, { minItems: 1, maxItems: 20, description: 'The queries, in order' })

export const SavedQuery = Type.Object(
  {
    id: id('Identifier of the saved query'),
    companyId: id('Company that owns it'),
    name: Type.String(),
    queries: Type.Array(Query),
    schedule: Schedule,
    createdAt: dateTime('When it was saved first'),
    updatedAt: dateTime('When it was changed last'),
    ...revisionFields,
    createdBy: Type.Optional(
      Type.String({
        pattern: idPattern,
        description: 'The user who saved it first; with the owner the one who may change it',
        examples: ['65f0c0ffee5ca1ab1e0ddba1'],
        ...extension,
      }),
    ),
    ownerId: Type.Optional(
      Type.String({
        pattern: idPattern,
        description:
          'The user whose rights its runs have: who saved it, or changed its queries or schedule last. Absent when that user is gone',
        examples: ['65f0c0ffee5ca1ab1e0ddba1'],
        ...extension,
      }),
    ),
    nextRunAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'When the schedule runs next; absent without one, while it is off and while it is paused',
        examples: ['2026-02-02T06:30:00.000Z'],
        ...extension,
      }),
    ),
    pausedReason: Type.Optional(
      Type.String({
        description:
          'Why the service has paused the schedule; it runs again once an enabled schedule is sent',
        examples: ['its owner no longer has the permission Statistics: export'],
        ...extension,
      }),
    ),
  },
  { ...strict, title: 'SavedQuery' },
)
export type SavedQuery = Static<typeof SavedQuery>

const creation = {
  name,
  queries,
  schedule: Type.Optional(nullable(Schedule, { description: 'Absent, `{}` or null: no schedule' })),
}
const update = {
  name: Type.Optional(name),
  queries: Type.Optional(queries),
  schedule: Type.Optional(nullable(Schedule, { description: '`{}` or null removes it' })),
}

export const SavedQueryCreation = Type.Object(
  { ...creation, ...responseOnly(SavedQuery, creation) },
  { ...strict, title: 'SavedQueryCreation' },
)
export type SavedQueryCreation = Static<typeof SavedQueryCreation>

/** Partial: a field that is absent stays as it is. */
export const SavedQueryUpdate = Type.Object(
  { ...update, ...responseOnly(SavedQuery, update) },
  { ...strict, title: 'SavedQueryUpdate' },
)
export type SavedQueryUpdate = Static<typeof SavedQueryUpdate>
