import type { Binding } from '@millrace/contract/resources/workflow-definition.ts'
import { hostOf, linkAddress } from './addresses.ts'
import type { CompiledAddress } from './compile-address.ts'
import { type CompileContext, type CompiledBinding, compileBinding } from './compile-binding.ts'
import type { RunView } from './executable.ts'
import { previewOf, printValue } from './values.ts'

/** Characters of a body. Every display holds its own in memory, and a value may stand in thousands of places. */
export const maxBodyLength = 1_000_000

/** A content that cannot be made of the values that there are. */
export class NoContent extends Error {}

export const tooLong = (): NoContent => new NoContent(`the content has more than ${maxBodyLength} characters`)

export type Named = ReadonlyMap<string, CompiledBinding>

export function compileNamed(
  bindings: Readonly<Record<string, Binding>> = {},
  { numbers }: CompileContext,
): Named {
  return new Map(Object.entries(bindings).map(([name, each]) => [name, compileBinding(each, numbers)]))
}

/** Their values by name, as a preview shows what an output is given. */
export const readNamed =
  (bindings: Named) =>
  (run: RunView): Record<string, unknown> =>
    Object.fromEntries([...bindings].map(([name, { read }]) => [name, previewOf(read(run))]))

interface CompiledClick {
  readonly bindings: readonly CompiledBinding[]
  readonly read: (run: RunView) => string | undefined
  readonly hosts: readonly string[]
}

/** Where a click leads: the value of a binding that is an address. */
export function compileClick(
  redirect: Binding | undefined,
  { numbers, isForeign, mayLeadTo }: CompileContext,
): CompiledClick {
  if (redirect === undefined) return { bindings: [], read: () => undefined, hosts: [] }
  const binding = compileBinding(redirect, numbers)
  const written = 'value' in redirect ? hostOf(printValue(redirect.value)) : undefined
  const isChosen = isForeign(binding)
  return {
    bindings: [binding],
    hosts: written === undefined ? [] : [written],
    read(run) {
      const address = linkAddress(printValue(binding.read(run)))
      return address !== undefined && isChosen && !mayLeadTo(address) ? undefined : address
    },
  }
}

/** @throws where the values give no address that may be answered */
export function addressOf(url: CompiledAddress, run: RunView): string {
  const address = url.read(run)
  if (address === undefined) throw new NoContent('its values give no address that may be answered')
  return address
}
