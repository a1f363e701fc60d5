import { expect, test } from 'vitest'
import { draftOf, faultOf, scheduleOf } from './schedule-draft.ts'
import { scheduleText } from './schedule-words.ts'
import { saved } from './texts.ts'

test('a schedule is read into a form and back', () => {
  const schedule = {
    enabled: true,
    frequency: 'monthly' as const,
    time: '08:15',
    days: [1, 31],
    timezone: 'Europe/Paris',
    recipients: ['a@example.com', 'b@example.com'],
    linkedAccounts: ['65f0c0ffee5ca1ab1e0ddba1'],
    format: 'csv' as const,
  }
  expect(scheduleOf(draftOf(schedule))).toEqual(schedule)
  const cron = { enabled: false, frequency: 'custom' as const, cron: '0 7 * * *', format: 'csv' as const }
  expect(scheduleOf(draftOf(cron))).toEqual(cron)
})

test('none is a form that is off, addressed to the user', () => {
  expect(scheduleOf(draftOf({}, 'ada@example.com'))).toEqual({
    enabled: false,
    frequency: 'weekly',
    weekdays: [1],
    time: '07:30',
    recipients: ['ada@example.com'],
    format: 'csv',
  })
})

test('only fields of the frequency are sent, and what is wrong is left to the interface', () => {
  const draft = {
    ...draftOf({}),
    frequency: 'monthly' as const,
    days: '1; x 15',
    recipients: 'a@b.c, a@b.c\n d@e.f',
  }
  expect(scheduleOf(draft)).toMatchObject({ days: [1, 0, 15], recipients: ['a@b.c', 'd@e.f'] })
  expect(scheduleOf(draft)).not.toHaveProperty('weekdays')
})

test('faults stand at their fields', () => {
  const faults = [
    { path: 'schedule.recipients.1', message: 'is no address' },
    { path: 'schedule.time', message: 'is late' },
  ]
  expect(faultOf(faults, 'recipients')).toBe('is no address')
  expect(faultOf(faults, 'time')).toBe('is late')
  expect(faultOf(faults, 'cron')).toBeUndefined()
})

test('a schedule is said in words', () => {
  expect(scheduleText({ frequency: 'weekly', weekdays: [1, 5], time: '07:30' }, 'en', saved.en)).toBe(
    'Monday and Friday at 07:30',
  )
  expect(scheduleText({ frequency: 'weekly', weekdays: [7], time: '07:30' }, 'fr', saved.fr)).toBe(
    'dimanche à 07:30',
  )
  expect(scheduleText({}, 'en', saved.en)).toBe('No schedule')
})
