import type { FaultAt, Faults } from '../scope.ts'

/** Outputs of a node have ids of their own; `what` is the field that lists them. */
export function* checkOutputIds(
  what: string,
  outputs: readonly { readonly id: string }[],
  at: FaultAt,
): Faults {
  const seen = new Set<string>()
  for (const [place, { id }] of outputs.entries()) {
    const path = `${what}.${place}.id`
    if (seen.has(id)) yield at('edges', path, `${path} "${id}" is used twice; ${what} need ids of their own`)
    seen.add(id)
  }
}
