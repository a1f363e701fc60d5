import { encodePart, hostOf, linkAddress, webAddress } from './addresses.ts'
import type { CompileContext, CompiledBinding } from './compile-binding.ts'
import type { RunView } from './executable.ts'
import { partsOf, type TemplatePart } from './placeholders.ts'
import { failed, printValue } from './values.ts'

export type CompiledAddress = ReturnType<typeof compileAddress>

const isText = (part: TemplatePart): part is { readonly text: string } => 'text' in part

/** Whether the scheme and host of an address end within this text. */
const endsHost = (text: string): boolean => /^[a-z][a-z0-9+.-]*:(\/\/[^/?#]*[/?#]|[^/])/i.test(text)

/** The text up to the first placeholder with a letter for each value, to read the host that is written. */
function writtenHost(parts: readonly TemplatePart[]): string | undefined {
  const [first] = parts
  if (first === undefined || !isText(first)) return undefined
  if (parts.length > 1 && !endsHost(first.text)) return undefined
  return hostOf(parts.map((part) => (isText(part) ? part.text : 'x')).join(''))
}

/**
 * An address with `{{name}}`: each value is one encoded part; one that is the whole address is taken as it is.
 * @param links whether a deep link is an address too
 */
export function compileAddress(
  template: string,
  bindings: ReadonlyMap<string, CompiledBinding>,
  links: boolean,
  { isForeign, mayLeadTo }: Pick<CompileContext, 'isForeign' | 'mayLeadTo'>,
) {
  const parts = partsOf(template.trim())
  const used = parts.flatMap((part) => (isText(part) ? [] : (bindings.get(part.placeholder) ?? [])))
  const check = links ? linkAddress : webAddress
  const host = writtenHost(parts)
  const isChosen = host === undefined && used.some(isForeign)
  const isWhole = parts.length === 1 && used.length === 1
  const pieces = parts.map((part) => (isText(part) ? part.text : bindings.get(part.placeholder)))

  function write(run: RunView): string | undefined {
    let text = ''
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        text += piece
        continue
      }
      const value = piece?.read(run)
      if (value === failed) return undefined
      const printed = printValue(value)
      // As a step of a path it would lead up, however it is encoded.
      if (!isWhole && /^\.\.?$/.test(printed) && !/[?#]/.test(text)) return undefined
      text += isWhole ? printed : encodePart(printed)
    }
    return text
  }

  return {
    bindings: used,
    /** The host that is written in it; undefined where it depends on values. */
    host,
    /** Undefined where a value is missing that it consists of, or where it becomes no address that may be answered. */
    read(run: RunView): string | undefined {
      const text = write(run)
      const address = text === undefined ? undefined : check(text)
      return address !== undefined && isChosen && !mayLeadTo(address) ? undefined : address
    },
  }
}
