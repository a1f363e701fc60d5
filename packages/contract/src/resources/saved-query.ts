import { type Static, Type } from 'typebox'
import { revisionFields } from '../revision.ts'
import {
  bodyOf,
  dateTime,
  emailAddress,
  extension,
  filled,
  flag,
  id,
  idPattern,
  named,
  nameText,
  nullable,
  oneOf,
  optionals,
  text,
  timeOfDayPattern,
} from './formats.ts'
import { Query } from './query.ts'

/** When a saved query runs and who gets the result; an empty object means never (docs/interface.md, Saved queries). */
export const Schedule = named(
  'Schedule',
  {
    ...optionals({
      enabled: flag('Whether runs happen'),
      frequency: oneOf(['daily', 'weekly', 'monthly', 'custom']),
      time: text('Time of day, `HH:MM` in `timezone`', '07:30', { pattern: timeOfDayPattern }),
      weekdays: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
        maxItems: 7,
        uniqueItems: true,
        description: 'For `weekly`: 1 is Monday, 7 is Sunday',
      }),
      days: Type.Array(Type.Integer({ minimum: 1, maximum: 31 }), {
        maxItems: 31,
        uniqueItems: true,
        description:
          'For `monthly`: days of the month; what a month does not have runs on its last day, and no day runs twice',
      }),
      cron: filled(
        'For `custom`: minute, hour, day of month, month, day of week (0 and 7 are Sunday); runs are at least 5 minutes apart',
        200,
        '0 7 * * 1-5',
      ),
      timezone: filled('IANA name; the company’s time zone when absent', 64, 'Europe/Paris'),
      recipients: Type.Array(emailAddress('Who gets the result'), {
        maxItems: 50,
        uniqueItems: true,
        description:
          'Addresses that the results are mailed to: of active users of the company, or of its verified domains',
      }),
      linkedAccounts: extension(
        Type.Array(id('One of your linked accounts'), {
          maxItems: 20,
          uniqueItems: true,
          description: 'Linked accounts of your own that are sent a message with a link to the results',
        }),
      ),
      format: oneOf(['csv'], 'Form of the result'),
    }),
  },
  'When the queries run; `{}` means never',
)
export type Schedule = Static<typeof Schedule>

const name = nameText('Name of the saved query', 200, { examples: ['Purchases by day'] })
const queries = Type.Array(Query, { minItems: 1, maxItems: 20, description: 'The queries, in order' })

export const SavedQuery = named('SavedQuery', {
  id: id('Identifier of the saved query'),
  companyId: id('Company that owns it'),
  name: Type.String(),
  queries: Type.Array(Query),
  schedule: Schedule,
  createdAt: dateTime('When it was saved first'),
  updatedAt: dateTime('When it was changed last'),
  ...revisionFields,
  ...optionals({
    createdBy: extension(
      text(
        'The user who saved it first; with the owner the one who may change it',
        '65f0c0ffee5ca1ab1e0ddba1',
        { pattern: idPattern },
      ),
    ),
    ownerId: extension(
      text(
        'The user whose rights its runs have: who saved it, or changed its queries or schedule last. Absent when that user is gone',
        '65f0c0ffee5ca1ab1e0ddba1',
        { pattern: idPattern },
      ),
    ),
    nextRunAt: extension(
      text(
        'When the schedule runs next; absent without one, while it is off and while it is paused',
        '2026-02-02T06:30:00.000Z',
        { format: 'date-time' },
      ),
    ),
    pausedReason: extension(
      text(
        'Why the service has paused the schedule; it runs again once an enabled schedule is sent',
        'its owner no longer has the permission Statistics: export',
      ),
    ),
  }),
})
export type SavedQuery = Static<typeof SavedQuery>

const creation = {
  name,
  queries,
  schedule: Type.Optional(nullable(Schedule, 'Absent, `{}` or null: no schedule')),
}
const update = {
  name: Type.Optional(name),
  queries: Type.Optional(queries),
  schedule: Type.Optional(nullable(Schedule, '`{}` or null removes it')),
}

export const SavedQueryCreation = bodyOf('SavedQueryCreation', SavedQuery, creation)
export type SavedQueryCreation = Static<typeof SavedQueryCreation>

/** Partial: a field that is absent stays as it is. */
export const SavedQueryUpdate = bodyOf('SavedQueryUpdate', SavedQuery, update)
export type SavedQueryUpdate = Static<typeof SavedQueryUpdate>
