import { type Static, Type } from 'typebox'
import { eventLimits } from '../events/limits.ts'
import { dateTime, nameText, responseOnly, strict } from './formats.ts'

/** The name of an event as senders give it: letter by letter, case and spaces included. */
export const eventName = (description: string) =>
  nameText(description, eventLimits.name, { examples: ['sign_up'] })

/** A custom event that answers under another name than it is sent with. */
export const EventAlias = Type.Object(
  {
    name: Type.String({ description: 'The name that senders give', examples: ['sign_up'] }),
    alias: Type.String({ description: 'The name under which it answers', examples: ['registration'] }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
  },
  { ...strict, title: 'EventAlias' },
)
export type EventAlias = Static<typeof EventAlias>

const setting = {
  alias: eventName('The name under which it answers: no built-in event, and no other event’s former name'),
}

export const EventAliasSetting = Type.Object(
  { ...setting, ...responseOnly(EventAlias, setting) },
  { ...strict, title: 'EventAliasSetting' },
)
export type EventAliasSetting = Static<typeof EventAliasSetting>
