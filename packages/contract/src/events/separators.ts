/** What joins several identifiers or amounts in one text. */
export const separators = /[;,|]/
