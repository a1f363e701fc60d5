import { ValidationError } from '@millrace/sdk'

/** What the interface said of the fields of a form: the first fault of each, by its path. */
export function faultsOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ValidationError)) return {}
  return Object.fromEntries([...error.errors].reverse().map(({ path, message }) => [path, message]))
}
