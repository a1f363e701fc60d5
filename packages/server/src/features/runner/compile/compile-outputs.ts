import {
  type Binding,
  clickPlaceholder,
  type WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { inspectHtml, withoutRefused } from '../../../platform/text/html-places.ts'
import type { RunnableTemplate } from '../ports.ts'
import { hostOf, linkAddress } from './addresses.ts'
import { type CompiledAddress, compileAddress } from './compile-address.ts'
import { type CompiledBinding, compileBinding, type DataNumbers, needsOf } from './compile-binding.ts'
import { previewOf } from './compile-data.ts'
import type { Content, OutputStep, RunView } from './executable.ts'
import { partsOf } from './placeholders.ts'
import { failed, isAbsent, printValue } from './values.ts'
import { writeHtml } from './write-html.ts'

type OutputType = 'json' | 'html' | 'image' | 'redirect' | 'empty'
export type OutputNode = Extract<WorkflowNode, { type: OutputType }>

/** What outputs are compiled with. */
export interface OutputContext {
  readonly numbers: DataNumbers
  readonly templates: Readonly<Record<string, RunnableTemplate>>
  /** Whether a value comes from who calls the address. */
  readonly isForeign: (binding: CompiledBinding) => boolean
  /** Whether such a value may be the destination. */
  readonly mayLeadTo: (address: string) => boolean
}

type Compiled = Pick<OutputStep, 'needs' | 'inputOf' | 'render' | 'destination'> & {
  readonly hosts: readonly string[]
}

/** Characters of a body. Every display holds its own in memory, and a value may stand in thousands of places. */
const maxBodyLength = 1_000_000

const tooLong = (): NoContent => new NoContent(`the content has more than ${maxBodyLength} characters`)

/** A content that cannot be made of the values that there are. */
export class NoContent extends Error {}

type Named = ReadonlyMap<string, CompiledBinding>

function compileNamed(bindings: Readonly<Record<string, Binding>> = {}, numbers: DataNumbers): Named {
  return new Map(Object.entries(bindings).map(([name, each]) => [name, compileBinding(each, numbers)]))
}

const readAll = (bindings: Named, run: RunView): Record<string, unknown> =>
  Object.fromEntries([...bindings].map(([name, { read }]) => [name, previewOf(read(run))]))

interface Destination {
  readonly bindings: readonly CompiledBinding[]
  readonly read: (run: RunView) => string | undefined
  readonly hosts: readonly string[]
}

const nowhere: Destination = { bindings: [], read: () => undefined, hosts: [] }

/** Where a click leads: an address, or the value of a binding that is one. */
function compileDestination(
  redirect: Binding | undefined,
  { numbers, isForeign, mayLeadTo }: OutputContext,
): Destination {
  if (redirect === undefined) return nowhere
  const binding = compileBinding(redirect, numbers)
  const written = binding.fixed ? hostOf(printValue(binding.read(undefined as never))) : undefined
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

function compileUrl(
  template: string,
  bindings: Named,
  links: boolean,
  { isForeign, mayLeadTo }: OutputContext,
): CompiledAddress {
  return compileAddress(template, { bindings, links, isForeign, mayLeadTo })
}

/** What a variable takes of a binding follows from its mode, whatever row the binding names. */
function byMode(binding: Binding, { type, index }: RunnableTemplate['variables'][number]): Binding {
  if ('value' in binding || binding.field === undefined) return binding
  const { node, field, row } = binding
  if (type === 'array') return { node, field, all: true }
  if (type === 'fixed') return { node, field, row: index ?? row ?? 0 }
  return binding
}

/** How often each variable stands in a template. */
function usesOf(definition: unknown, uses = new Map<string, number>()): Map<string, number> {
  if (typeof definition !== 'object' || definition === null) return uses
  const { type, variable } = definition as { readonly type?: unknown; readonly variable?: unknown }
  if (type === 'dependency' && typeof variable === 'string') uses.set(variable, (uses.get(variable) ?? 0) + 1)
  else for (const part of Object.values(definition)) usesOf(part, uses)
  return uses
}

/** About as many characters as the value has as JSON. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (!Array.isArray(value)) return 10
  let length = 0
  for (const each of value) length += lengthOf(each)
  return length
}

function compileJson(node: Extract<OutputNode, { type: 'json' }>, context: OutputContext): Compiled {
  const template = context.templates[node.templateId]
  if (!template) {
    return {
      ...compileEmpty(),
      render() {
        throw new NoContent(`the template ${node.templateId} is not there`)
      },
    }
  }
  // Publishing writes out the bindings that variables have by their name alone.
  const given: Readonly<Record<string, Binding>> = node.bindings ?? {}
  const variables: Named = new Map(
    template.variables.flatMap((variable) => {
      const binding = Object.hasOwn(given, variable.name) ? given[variable.name] : undefined
      return binding
        ? [[variable.name, compileBinding(byMode(binding, variable), context.numbers)] as const]
        : []
    }),
  )
  const uses = usesOf(template.definition)
  const own = compileDestination(node.redirect, context)
  const { redirectVariable } = template
  const behind =
    node.redirect === undefined && redirectVariable !== undefined && Object.hasOwn(given, redirectVariable)
      ? compileDestination(given[redirectVariable], context)
      : own
  return {
    needs: needsOf([...variables.values(), ...behind.bindings]),
    hosts: behind.hosts,
    inputOf: (run) => readAll(variables, run),
    render(run) {
      const values = new Map<string, unknown>()
      let length = 0
      for (const [name, { read }] of variables) {
        const value = read(run)
        if (value === failed || isAbsent(value)) continue
        values.set(name, value)
        length += lengthOf(value) * (uses.get(name) ?? 0)
      }
      if (length > maxBodyLength) throw tooLong()
      // Where a template has variables and none of them a value, nothing of it applies.
      if (template.variables.length > 0 && values.size === 0) return { kind: 'empty' }
      return { kind: 'json', body: JSON.stringify(run.environment.fillTemplate(template, values)) }
    },
    destination: behind.read,
  }
}

/** A piece of a document: its own text, or what a value becomes in its place. */
type HtmlPiece = string | ((run: RunView, clickAddress: () => string) => string)

function compileHtml(node: Extract<OutputNode, { type: 'html' }>, context: OutputContext): Compiled {
  const bindings = compileNamed(node.bindings, context.numbers)
  // What was published before validation refused it.
  const html = withoutRefused(node.html, inspectHtml(node.html).refused)
  const places = inspectHtml(html).places.values()
  const pieces = partsOf(html).map((part): HtmlPiece => {
    if ('text' in part) return part.text
    const place = places.next().value?.place ?? 'nowhere'
    const binding = bindings.get(part.placeholder)
    if (binding) {
      const mayLeadTo = context.isForeign(binding) ? context.mayLeadTo : undefined
      return (run) => writeHtml(printValue(binding.read(run)), place, mayLeadTo)
    }
    return part.placeholder === clickPlaceholder ? (_, click) => writeHtml(click(), place) : ''
  })
  const destination = compileDestination(node.redirect, context)
  return {
    needs: needsOf([...bindings.values(), ...destination.bindings]),
    hosts: destination.hosts,
    inputOf: (run) => readAll(bindings, run),
    render(run, clickAddress) {
      let body = ''
      for (const piece of pieces) {
        body += typeof piece === 'string' ? piece : piece(run, clickAddress)
        if (body.length > maxBodyLength) throw tooLong()
      }
      return { kind: 'html', body }
    },
    destination: destination.read,
  }
}

function compileImage(node: Extract<OutputNode, { type: 'image' }>, context: OutputContext): Compiled {
  const bindings = compileNamed(node.bindings, context.numbers)
  const url = compileUrl(node.url, bindings, false, context)
  const destination = compileDestination(node.redirect, context)
  return {
    needs: needsOf([...url.bindings, ...destination.bindings]),
    hosts: destination.hosts,
    inputOf: (run) => readAll(bindings, run),
    render: (run) => ({ kind: 'image', location: addressOf(url, run) }),
    destination: destination.read,
  }
}

function compileRedirect(node: Extract<OutputNode, { type: 'redirect' }>, context: OutputContext): Compiled {
  const bindings = compileNamed(node.bindings, context.numbers)
  const url = compileUrl(node.url, bindings, true, context)
  return {
    needs: needsOf(url.bindings),
    hosts: url.host === undefined ? [] : [url.host],
    inputOf: (run) => readAll(bindings, run),
    render: (run) => ({ kind: 'redirect', location: addressOf(url, run) }),
    destination: url.read,
  }
}

function addressOf(url: CompiledAddress, run: RunView): string {
  const address = url.read(run)
  if (address === undefined) throw new NoContent('its values give no address that may be answered')
  return address
}

const emptyContent: Content = { kind: 'empty' }

const compileEmpty = (): Compiled => ({
  needs: [],
  hosts: [],
  inputOf: () => null,
  render: () => emptyContent,
  destination: () => undefined,
})

export function compileOutput(node: OutputNode, context: OutputContext): Compiled {
  switch (node.type) {
    case 'json':
      return compileJson(node, context)
    case 'html':
      return compileHtml(node, context)
    case 'image':
      return compileImage(node, context)
    case 'redirect':
      return compileRedirect(node, context)
    case 'empty':
      return compileEmpty()
  }
}
