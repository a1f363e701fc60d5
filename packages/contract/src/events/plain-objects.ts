/** Objects, but no lists and none of the language's own classes, such as Date and Map. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  ({}).toString.call(value) === '[object Object]'
