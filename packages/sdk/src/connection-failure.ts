/** Why `fetch` or a body failed: Node.js says only "fetch failed", and what failed is the cause. */
export function describeConnectionFailure(error: unknown): string {
  const errors = error instanceof Error ? [error.cause, error] : [error]
  const found = errors.find((each) => each instanceof Error && each.message !== '')
  return found instanceof Error ? found.message : String(error)
}
