export type { EventPerson, SentEvent } from './envelope.ts'
export { createEventSender, type EventSender, type SenderCounters } from './event-sender.ts'
export { DeliveryError, type DroppedEvents, type DropReason, type EventWarning } from './reports.ts'
export type { EventSenderOptions, WaitingSenderOptions } from './sender-options.ts'
