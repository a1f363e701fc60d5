import { placeholderValues } from './placeholders.ts'
import { separators } from './separators.ts'

/** An entry of `data.ids` as it was sent. */
export type IdEntry = string | null

/** Events whose `ids` are names and may hold separators: they are never split (docs/interface.md, Events). */
const unsplitEvents = /^(category|brand)_view$/

/**
 * Reads the entries of `data.ids`: one text, split at semicolon, comma and pipe unless its entries are names, or a
 * list of texts, which are taken as they are. False where the value is anything else (a number is: leading zeros and
 * long digits would already be lost).
 */
export const readIds = (value: unknown, eventName: string): readonly IdEntry[] | false => {
  const entries: unknown =
    typeof value !== 'string'
      ? value
      : separators.test(value) && !unsplitEvents.test(eventName)
        ? // Outer spaces and empty parts belong to the joining, not to the identifiers.
          value
            .split(separators)
            .map((part) => part.trim())
            .filter((part) => part)
        : [value]
  return Array.isArray(entries) && entries.every((entry) => typeof (entry ?? '') === 'string') && entries
}

/** Whether an entry identifies an item: it is not empty, and no placeholder, as which null counts too. */
export const isIdentifier = (entry: IdEntry): entry is string => !!entry && !placeholderValues.includes(entry)
