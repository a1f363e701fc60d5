import type { Static } from 'typebox'
import { count, dateTime, id, integer, listOf, named, nullable, object, text } from './formats.ts'

/** Query parameter of the previews. */
export const retentionDays = integer(7, 36_500, 'Days that events would be kept', 365)

/** What a shorter retention would remove of what is stored now. */
export const RetentionPreview = named('RetentionPreview', {
  before: dateTime('What happened before this midnight of UTC would be removed'),
  earliest: nullable(dateTime('The earliest event that would be removed; null where none would be')),
  events: count('Events that would be removed'),
  purchases: count('Of these, events of orders'),
  kept: count('Events of the same datasources that would stay'),
  appliesAfterHours: count('Hours after the change in which it can be undone before anything is removed'),
  heldBy: listOf(
    object({ id: id('Identifier of the experiment'), name: text('Its name') }),
    'Experiments that run, or ended less than 90 days ago: what they need stays as long',
  ),
})
export type RetentionPreview = Static<typeof RetentionPreview>
