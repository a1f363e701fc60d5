import {
  type Binding,
  clickPlaceholder,
  type WorkflowNodeOf,
} from '@millrace/contract/resources/workflow-definition.ts'
import { inspectHtml, withoutRefused } from '../../../../platform/text/html-places.ts'
import { needsOf } from '../../compile/compile-binding.ts'
import {
  compileClick,
  compileNamed,
  maxBodyLength,
  readNamed,
  tooLong,
} from '../../compile/compile-content.ts'
import type { RunView } from '../../compile/executable.ts'
import { partsOf } from '../../compile/placeholders.ts'
import { printValue } from '../../compile/values.ts'
import { writeHtml } from '../../compile/write-html.ts'
import { bindingsOfOutput } from '../bindings.ts'
import type { FaultAt, Faults, Scope } from '../scope.ts'
import { checkClick, checkPlaceholders, faultOfWhole, placeholders } from './addresses.ts'
import type { OutputNodeKind } from './node-kind.ts'

/** Addresses that the document holds itself, placeholders that make whole ones, and those that would silently be left out. */
function* checkPlaces(
  html: string,
  bindings: ReadonlyMap<string, Binding>,
  scope: Scope,
  at: FaultAt,
): Faults {
  const { places, refused } = inspectHtml(html)
  for (const { element, attribute, line, fault } of refused)
    yield at('address', 'html', `${attribute} of <${element}> in line ${line} of html ${fault}`)
  const misplaced = new Set<string>()
  const whole = new Set<string>()
  for (const [i, [, name = '']] of [...html.matchAll(placeholders())].entries()) {
    const { place, element, attribute, line } = places[i] ?? {}
    if (place === 'nowhere' && !misplaced.has(name)) {
      misplaced.add(name)
      yield at(
        'template',
        'html',
        `{{${name}}} in html stands where no value is put: in a script or style sheet, an event handler, a comment, a tag, or an address without quotes; put it into text or into an attribute with quotes`,
      )
    }
    const binding = bindings.get(name)
    if ((place !== 'address' && place !== 'style-address') || !binding || whole.has(name)) continue
    whole.add(name)
    const wrong = faultOfWhole(binding, place === 'address' ? 'page' : 'image', scope)
    const where = `${attribute} of <${element}> in line ${line} of html`
    const path = `bindings.${name}`
    if (wrong) yield at('address', path, `${path}, the whole address in ${where}, ${wrong}`)
  }
}

/** A piece of a document: its own text, or what a value becomes in its place. */
type HtmlPiece = string | ((run: RunView, clickAddress: () => string) => string)

/** A document with values in it. */
export const html: OutputNodeKind<WorkflowNodeOf<'html'>> = {
  bindingsOf: bindingsOfOutput,

  check: (scope) =>
    function* ({ html: text, bindings: given = {}, redirect }, at) {
      const bindings = new Map(Object.entries(given))
      yield* checkPlaceholders('html', text, bindings, at, clickPlaceholder)
      const hasClick = [...text.matchAll(placeholders())].some(([, name]) => name === clickPlaceholder)
      if (hasClick && !bindings.has(clickPlaceholder) && !redirect)
        yield at('address', 'redirect', `redirect is required: {{${clickPlaceholder}}} in html leads to it`)
      yield* checkPlaces(text, bindings, scope, at)
      yield* checkClick('redirect', redirect, scope, at)
    },

  compile(node, context) {
    const bindings = compileNamed(node.bindings, context)
    // What was published before validation refused it.
    const text = withoutRefused(node.html, inspectHtml(node.html).refused)
    const places = inspectHtml(text).places.values()
    const pieces = partsOf(text).map((part): HtmlPiece => {
      if ('text' in part) return part.text
      const place = places.next().value?.place ?? 'nowhere'
      const binding = bindings.get(part.placeholder)
      if (binding) {
        const mayLeadTo = context.isForeign(binding) ? context.mayLeadTo : undefined
        return (run) => writeHtml(printValue(binding.read(run)), place, mayLeadTo)
      }
      return part.placeholder === clickPlaceholder ? (_, click) => writeHtml(click(), place) : ''
    })
    const click = compileClick(node.redirect, context)
    return {
      needs: needsOf([...bindings.values(), ...click.bindings]),
      hosts: click.hosts,
      inputOf: readNamed(bindings),
      render(run, clickAddress) {
        let body = ''
        for (const piece of pieces) {
          body += typeof piece === 'string' ? piece : piece(run, clickAddress)
          if (body.length > maxBodyLength) throw tooLong()
        }
        return { kind: 'html', body }
      },
      destination: click.read,
    }
  },
}
