import {
  type Binding,
  clickPlaceholder,
  placeholderPattern,
  refusedSchemes,
  type WorkflowNode,
} from '@millrace/contract/resources/workflow-definition.ts'
import { inspectHtml } from '../../../../platform/text/html-places.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { isReference } from '../bindings.ts'
import { type Faults, faultOfNode, type Scope } from './scope.ts'
import { faultOfType } from './type-fit.ts'

const placeholders = () => new RegExp(placeholderPattern, 'gu')
const wholePlaceholder = new RegExp(`^${placeholderPattern}$`, 'u')

/** Schemes whose addresses have no `//`. */
const plainSchemes = new Set(['mailto', 'sms', 'tel'])

type Kind = 'image' | 'page'

const wanted: Record<Kind, string> = {
  image: 'must begin with https:// or http://',
  page: 'must begin with https://, http:// or the scheme of an app, as myapp://',
}

function faultOfHttp(address: string, head: string, isStatic: boolean): string | undefined {
  const [, authority = ''] = /^https?:\/\/([^/?#\\]*)/iu.exec(head) ?? []
  if (authority.includes('@')) return 'must hold no user and password'
  if (!isStatic && !/^https?:\/\/[^/?#\\]+[/?#]/iu.test(head))
    return 'must name its host without placeholders; a binding can give the path, the query, or the whole address'
  return URL.canParse(isStatic ? address : head)
    ? undefined
    : 'must be an address, as https://example.com/page'
}

/** What is wrong with an address that is written into the definition; the end of a sentence, or nothing. */
export function faultOfAddress(address: string, kind: Kind): string | undefined {
  if (wholePlaceholder.test(address)) return undefined
  const plain = address.replace(placeholders(), '')
  if (/[\p{Cc}\p{Z}\\]/u.test(plain)) return 'must hold no spaces, backslashes and control characters'
  const first = address.search(placeholders())
  const head = first < 0 ? address : address.slice(0, first)
  const scheme = /^([a-z][a-z0-9+.-]*):/iu.exec(head)?.[1]?.toLowerCase()
  if (scheme === 'http' || scheme === 'https') return faultOfHttp(address, head, first < 0)
  if (kind === 'image' || scheme === undefined || refusedSchemes.has(scheme)) return wanted[kind]
  const isDeepLink = plainSchemes.has(scheme) || head.slice(scheme.length).startsWith('://')
  return isDeepLink ? undefined : wanted[kind]
}

/** What is wrong with a binding that gives a whole address. */
function faultOfWhole(binding: Binding, kind: Kind, scope: Scope): string | undefined {
  if (!isReference(binding)) {
    if (typeof binding.value !== 'string') return `${wanted[kind]}, and be a text`
    if (placeholders().test(binding.value)) return 'must hold no placeholders: it is taken as it is'
    return faultOfAddress(binding.value, kind)
  }
  const from = scope.graph.nodes.get(binding.node)
  if (from?.type === 'parameter' || (from?.type === 'context' && binding.field?.startsWith('page.')))
    return `must not be a URL parameter, with which anyone could send your visitors anywhere; put it into the path or query of an address, or look it up`
  return faultOfType(binding, 'text', scope)
}

type HtmlNode = Extract<WorkflowNode, { type: 'html' }>

/** Addresses that the document holds itself, placeholders that make whole ones, and those that would silently be left out. */
function* checkHtml(
  scope: Scope,
  id: string,
  node: HtmlNode,
  bindings: ReadonlyMap<string, Binding>,
): Faults {
  const { places, refused } = inspectHtml(node.html)
  for (const { element, attribute, line, fault } of refused)
    yield faultOfNode(
      'address',
      id,
      node,
      'html',
      `${attribute} of <${element}> in line ${line} of html ${fault}`,
    )
  const misplaced = new Set<string>()
  const whole = new Set<string>()
  for (const [i, [, name = '']] of [...node.html.matchAll(placeholders())].entries()) {
    const { place, element, attribute, line } = places[i] ?? {}
    if (place === 'nowhere' && !misplaced.has(name)) {
      misplaced.add(name)
      yield faultOfNode(
        'template',
        id,
        node,
        'html',
        `{{${name}}} in html stands where no value is put: in a script or style sheet, an event handler, a comment, a tag, or an address without quotes; put it into text or into an attribute with quotes`,
      )
    }
    const binding = bindings.get(name)
    if ((place !== 'address' && place !== 'style-address') || !binding || whole.has(name)) continue
    whole.add(name)
    const wrong = faultOfWhole(binding, place === 'address' ? 'page' : 'image', scope)
    if (wrong)
      yield faultOfNode(
        'address',
        id,
        node,
        `bindings.${name}`,
        `bindings.${name}, the whole address in ${attribute} of <${element}> in line ${line} of html, ${wrong}`,
      )
  }
}

type Texts = Extract<WorkflowNode, { type: 'html' | 'image' | 'redirect' }>

function* checkTexts(scope: Scope, id: string, node: Texts): Faults {
  const field = node.type === 'html' ? 'html' : 'url'
  const text = node.type === 'html' ? node.html : node.url
  const bindings = new Map(Object.entries(node.bindings ?? {}))
  const names = new Set([...text.matchAll(placeholders())].map(([, name = '']) => name))
  for (const name of names) {
    if (bindings.has(name)) continue
    if (name !== clickPlaceholder || node.type !== 'html')
      yield faultOfNode(
        'template',
        id,
        node,
        `bindings.${name}`,
        `{{${name}}} in ${field} has no binding${hintOf(name, bindings.keys())}`,
      )
    else if (!node.redirect)
      yield faultOfNode(
        'address',
        id,
        node,
        'redirect',
        `redirect is required: {{${clickPlaceholder}}} in ${field} leads to it`,
      )
  }
  if (node.type === 'html') {
    yield* checkHtml(scope, id, node, bindings)
    return
  }
  const kind = node.type === 'image' ? 'image' : 'page'
  const wrong = faultOfAddress(text, kind)
  if (wrong) yield faultOfNode('address', id, node, 'url', `url ${wrong}`)
  const [, whole] = wholePlaceholder.exec(text) ?? []
  const binding = whole === undefined ? undefined : bindings.get(whole)
  const wrongBinding = binding && faultOfWhole(binding, kind, scope)
  if (wrongBinding)
    yield faultOfNode(
      'address',
      id,
      node,
      `bindings.${whole}`,
      `bindings.${whole}, the whole address, ${wrongBinding}`,
    )
}

/** The binding that gives where a click leads: of a template without `redirect` that of its variable for it. */
function redirectOf({ resources }: Scope, node: WorkflowNode): readonly [path: string, binding?: Binding] {
  if ('redirect' in node && node.redirect) return ['redirect', node.redirect]
  const template = node.type === 'json' ? resources.templates.get(node.templateId) : undefined
  if (node.type !== 'json' || template?.redirectVariable === undefined) return ['redirect']
  const binding = new Map(Object.entries(node.bindings ?? {})).get(template.redirectVariable)
  return binding ? [`bindings.${template.redirectVariable}`, binding] : ['redirect']
}

/** Placeholders have bindings, and addresses lead where they may. */
export function* checkAddresses(scope: Scope): Faults {
  for (const [id, node] of Object.entries(scope.definition.nodes)) {
    if (node.type === 'html' || node.type === 'image' || node.type === 'redirect')
      yield* checkTexts(scope, id, node)
    const [path, redirect] = redirectOf(scope, node)
    const wrong = redirect && faultOfWhole(redirect, 'page', scope)
    if (wrong) yield faultOfNode('address', id, node, path, `${path} ${wrong}`)
    yield undefined
  }
}
