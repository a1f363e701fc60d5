import { AttributeAction, parse, type Selector, SelectorType } from 'css-what'

/** Pseudo-classes without arguments that find elements of a page; `querySelector` knows them in every browser. */
const plainClasses = new Set([
  'active',
  'any-link',
  'checked',
  'disabled',
  'empty',
  'enabled',
  'first-child',
  'first-of-type',
  'focus',
  'focus-within',
  'hover',
  'last-child',
  'last-of-type',
  'link',
  'only-child',
  'only-of-type',
  'optional',
  'required',
  'root',
  'scope',
  'target',
])
const nestingClasses = new Set(['has', 'is', 'not', 'where'])
const countingClasses = new Set(['nth-child', 'nth-last-child', 'nth-last-of-type', 'nth-of-type'])
const count = /^\s*(?:even|odd|[+-]?\d{1,6}|[+-]?\d{0,6}n(?:\s*[+-]\s*\d{1,6})?)\s*$/i
const combinators: ReadonlySet<SelectorType | undefined> = new Set([
  SelectorType.Child,
  SelectorType.Adjacent,
  SelectorType.Sibling,
  SelectorType.Descendant,
])
const maxDepth = 4

/**
 * What is wrong with a text as a CSS selector, after "must"; undefined where nothing is. Only what `querySelector` takes
 * in browsers is a selector here: the parser knows extensions of libraries too.
 */
export function faultOfSelector(text: string): string | undefined {
  let lists: Selector[][]
  try {
    lists = parse(text)
  } catch (error) {
    // What the parser found is the rest of the text, of which nothing is left at its end.
    const { message } = error as Error
    return `must be a CSS selector, as #hero or main > .banner: ${message.replace(/found\s*$/, 'found the end')}`
  }
  if (lists.length === 0) return 'must be a CSS selector, as #hero or main > .banner'
  return faultOfLists(lists, 1) ?? faultOfNames(text)
}

/** Escapes, texts within quotes, attributes and places of `:nth-…()`: none of them begins a name. */
const notNames =
  /\\(?:[0-9a-f]{1,6}\s?|[\s\S])|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|:nth-[a-z-]+\([^)]*\)/gi
const digitFirst = /(^|[\s>+~,(#.])(-?\d[\w-]*)/

/** Names that begin with a digit: the parser takes them, and browsers refuse the whole selector. */
function faultOfNames(text: string): string | undefined {
  const names = text.replace(notNames, 'x').replace(/\[[^\]]*\]/g, '')
  const [, before, name] = digitFirst.exec(names) ?? []
  if (name === undefined) return undefined
  const instead =
    before === '#' ? `: write [id="${name}"]` : before === '.' ? `: write [class~="${name}"]` : ''
  return `must not have a name that begins with a digit, as ${name}${instead}`
}

function faultOfLists(lists: readonly (readonly Selector[])[], depth: number): string | undefined {
  if (depth > maxDepth) return `must not nest deeper than ${maxDepth} levels`
  for (const list of lists) {
    // The parser takes one at the end, and browsers refuse the whole selector.
    if (combinators.has(list.at(-1)?.type)) return 'must end with an element, and not with a combinator'
    for (const [place, selector] of list.entries()) {
      const isLead = place === 0 && depth === 1
      const fault = faultOf(selector, isLead, depth)
      if (fault !== undefined) return fault
    }
  }
  return undefined
}

function faultOf(selector: Selector, isLead: boolean, depth: number): string | undefined {
  switch (selector.type) {
    case SelectorType.Tag:
    case SelectorType.Universal:
      return selector.namespace === null ? undefined : 'must not name a namespace'
    case SelectorType.Attribute:
      if (selector.namespace !== null) return 'must not name a namespace'
      return selector.action === AttributeAction.Not
        ? `must not use [${selector.name}!=…], which browsers do not know: use :not([${selector.name}=…])`
        : undefined
    case SelectorType.Pseudo:
      return faultOfPseudo(selector, depth)
    case SelectorType.PseudoElement:
      return `must find elements: ::${selector.name} is none`
    default:
      if (!combinators.has(selector.type)) return 'must combine elements by spaces, >, + and ~ alone'
      return isLead ? 'must begin with an element, and not with a combinator' : undefined
  }
}

function faultOfPseudo(
  { name, data }: Extract<Selector, { type: SelectorType.Pseudo }>,
  depth: number,
): string | undefined {
  const unknown = `must not use :${name}, which does not find elements of a page in every browser`
  if (data === null) return plainClasses.has(name) ? undefined : unknown
  if (Array.isArray(data)) return nestingClasses.has(name) ? faultOfLists(data, depth + 1) : unknown
  if (!countingClasses.has(name)) return unknown
  return count.test(data) ? undefined : `must have a place in :${name}(), as 2 or 2n+1: it is "${data}"`
}
