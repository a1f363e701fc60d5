import type { Static } from 'typebox'
import { eventLimits } from '../events/limits.ts'
import { bodyOf, named, nameText, text, times } from './formats.ts'

/** The name of an event as senders give it: letter by letter, case and spaces included. */
export const eventName = (description: string) =>
  nameText(description, eventLimits.name, { examples: ['sign_up'] })

/** A custom event that answers under another name than it is sent with. */
export const EventAlias = named('EventAlias', {
  name: text('The name that senders give', 'sign_up'),
  alias: text('The name under which it answers', 'registration'),
  ...times,
})
export type EventAlias = Static<typeof EventAlias>

const setting = {
  alias: eventName('The name under which it answers: no built-in event, and no other event’s former name'),
}

export const EventAliasSetting = bodyOf('EventAliasSetting', EventAlias, setting)
export type EventAliasSetting = Static<typeof EventAliasSetting>
