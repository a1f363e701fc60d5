import {
  type Binding,
  placeholderPattern,
  refusedSchemes,
} from '@millrace/contract/resources/workflow-definition.ts'
import { hintOf } from '../../../../platform/text/nearest.ts'
import { isReference } from '../bindings.ts'
import type { FaultAt, Faults, Scope } from '../scope.ts'
import { faultOfType } from './type-fit.ts'

export const placeholders = () => new RegExp(placeholderPattern, 'gu')
const wholePlaceholder = new RegExp(`^${placeholderPattern}$`, 'u')

/** Schemes whose addresses have no `//`. */
const plainSchemes = new Set(['mailto', 'sms', 'tel'])

export type AddressKind = 'image' | 'page'

const wanted: Record<AddressKind, string> = {
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
function faultOfAddress(address: string, kind: AddressKind): string | undefined {
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
export function faultOfWhole(binding: Binding, kind: AddressKind, scope: Scope): string | undefined {
  if (!isReference(binding)) {
    if (typeof binding.value !== 'string') return `${wanted[kind]}, and be a text`
    if (placeholders().test(binding.value)) return 'must hold no placeholders: it is taken as it is'
    return faultOfAddress(binding.value, kind)
  }
  if (scope.isGivenAddress(binding))
    return `must not be a URL parameter, with which anyone could send your visitors anywhere; put it into the path or query of an address, or look it up`
  return faultOfType(binding, 'text', scope)
}

/** Every placeholder of the text in `field` has a binding, but those called `other`. */
export function* checkPlaceholders(
  field: string,
  text: string,
  bindings: ReadonlyMap<string, Binding>,
  at: FaultAt,
  other?: string,
): Faults {
  for (const name of new Set([...text.matchAll(placeholders())].map(([, found = '']) => found))) {
    if (bindings.has(name) || name === other) continue
    const message = `{{${name}}} in ${field} has no binding${hintOf(name, bindings.keys())}`
    yield at('template', `bindings.${name}`, message)
  }
}

/** The address of a node leads where it may. */
export function* checkUrl(
  {
    url,
    bindings: given = {},
  }: { readonly url: string; readonly bindings?: Readonly<Record<string, Binding>> },
  kind: AddressKind,
  scope: Scope,
  at: FaultAt,
): Faults {
  const bindings = new Map(Object.entries(given))
  yield* checkPlaceholders('url', url, bindings, at)
  const wrong = faultOfAddress(url, kind)
  if (wrong) yield at('address', 'url', `url ${wrong}`)
  const [, name = ''] = wholePlaceholder.exec(url) ?? []
  const binding = bindings.get(name)
  const wrongBinding = binding && faultOfWhole(binding, kind, scope)
  if (wrongBinding)
    yield at('address', `bindings.${name}`, `bindings.${name}, the whole address, ${wrongBinding}`)
}

/** A binding that gives where a click leads, at its path, leads where it may. */
export function* checkClick(path: string, binding: Binding | undefined, scope: Scope, at: FaultAt): Faults {
  const wrong = binding && faultOfWhole(binding, 'page', scope)
  if (wrong) yield at('address', path, `${path} ${wrong}`)
}
