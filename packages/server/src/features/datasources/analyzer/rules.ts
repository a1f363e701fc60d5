import { createHash } from 'node:crypto'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import { isObject } from '../../../platform/plain-object.ts'
import { getOwn, setOwn } from '../formats/own-properties.ts'
import { isEvery, type Path, type PathStep, parsePath } from '../formats/path.ts'
import type { RawRow } from '../formats/source-options.ts'
import { isEmptyValue } from './empty-values.ts'

export type FieldRule = DatasourceField['rulesPerSources'][string][number]

/** Gives the value of a field from an entry. It never throws. */
export type Rules = (root: RawRow) => unknown

/** One rule: from the value so far and the entry to the next value. */
type Step = (current: unknown, root: RawRow) => unknown

/** A rule that cannot be applied; the message names it, what is wrong and what would be right. */
export class RuleFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RuleFault'
  }
}

const maxRules = 20
const maxElements = 10_000

/**
 * Makes a function of the rules of a field (docs/datasources.md, Rules).
 * @throws RuleFault for a rule that is unknown, refused or without what it needs
 */
export function compileRules(rules: readonly FieldRule[]): Rules {
  const [first] = rules
  if (first === undefined) throw new RuleFault('There is no rule: begin with path or static')
  if (rules.length > maxRules) throw new RuleFault(`${rules.length} rules: at most ${maxRules} are applied`)
  const steps = rules.map(compileRule)
  if (first.name !== 'path' && first.name !== 'static') {
    throw new RuleFault(`The rule ${first.name} comes first: begin with path or static`)
  }
  if (steps.length === 1) return (root) => ended((steps[0] as Step)(root, root))
  return (root) => {
    let current: unknown = root
    for (const step of steps) {
      current = step(current, root)
      if (current instanceof Ended) return current.value
    }
    return current
  }
}

/** What a rule with `exit` gives: the rules behind it are not applied. */
class Ended {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

function ended(value: unknown): unknown {
  return value instanceof Ended ? value.value : value
}

type Params = FieldRule['params']

const refused = new Map([
  ['decrypt', 'send the values decrypted'],
  ['decipher', 'send the values decrypted'],
  ['custom', 'code of users is not run: combine path, split, case and interpolate'],
])

function compileRule({ name, params }: FieldRule): Step {
  switch (name) {
    case 'path': {
      const path = pathParam(name, params, 'value')
      return params.fromRoot === true
        ? (_current, root) => readPath(root, path)
        : (current) => readPath(current, path)
    }
    case 'static': {
      const { value } = params
      if (!['string', 'number', 'boolean'].includes(typeof value)) {
        throw new RuleFault('The rule static needs a text, a number or a boolean as value')
      }
      return () => value
    }
    case 'split': {
      const separator = textParam(name, params, 'separator')
      if (separator === '') throw new RuleFault('The rule split needs a separator of at least one character')
      return (current) =>
        typeof current !== 'string'
          ? current
          : current
              .split(separator)
              .map((part) => part.trim())
              .filter((part) => part !== '')
    }
    case 'fallback': {
      const replace = replacement(name, params)
      return (current, root) => (isEmptyValue(current) ? replace(root) : current)
    }
    case 'fallback_if': {
      const holds = conditionsParam(name, params.conditions)
      const replace = replacement(name, params)
      return (current, root) => (holds(root, root) ? replace(root) : current)
    }
    case 'case': {
      const { cases } = params
      if (!Array.isArray(cases) || cases.length === 0) {
        throw new RuleFault('The rule case needs cases, a list of {conditions, value}')
      }
      const compiled = cases.map((each: unknown) => {
        if (!isObject(each) || !Object.hasOwn(each, 'value')) {
          throw new RuleFault('Each of the cases of the rule case needs conditions and a value')
        }
        return { holds: conditionsParam(name, each.conditions), value: each.value }
      })
      return (current, root) => {
        const found = compiled.find(({ holds }) => holds(root, root))
        return found === undefined ? current : found.value
      }
    }
    case 'array_find': {
      const holds = Array.isArray(params.conditions)
        ? conditionsParam(name, params.conditions)
        : conditionsParam(name, [params])
      return (current, root) =>
        Array.isArray(current)
          ? current.slice(0, maxElements).find((element) => holds(element, root))
          : undefined
    }
    case 'exclude_from_record': {
      const { keys } = params
      if (!Array.isArray(keys))
        throw new RuleFault('The rule exclude_from_record needs keys, a list of names')
      const excluded = new Set(keys.map(String))
      return (current) => {
        if (!isObject(current)) return current
        const kept: RawRow = {}
        for (const [key, value] of Object.entries(current)) if (!excluded.has(key)) setOwn(kept, key, value)
        return kept
      }
    }
    case 'interpolate': {
      const parts = templateOf(textParam(name, params, 'value'))
      return (current, root) =>
        parts
          .map((part) =>
            typeof part === 'string' ? part : textOf(part.isCurrent ? current : readPath(root, part.path)),
          )
          .join('')
    }
    case 'hash': {
      const algorithm = textParam(name, params, 'algorithm')
      if (!/^(md5|sha1|sha256|sha512)$/.test(algorithm)) {
        throw new RuleFault(`The rule hash does not know ${algorithm}: use sha256, sha512, sha1 or md5`)
      }
      const salt = params.salt === undefined ? '' : textParam(name, params, 'salt')
      return (current) =>
        isEmptyValue(current)
          ? current
          : createHash(algorithm)
              .update(salt + textOf(current))
              .digest('hex')
    }
    default: {
      const advice = refused.get(name)
      throw new RuleFault(
        advice === undefined
          ? `There is no rule ${name}: the rules are path, static, split, fallback, fallback_if, case, array_find, exclude_from_record, interpolate and hash`
          : `The rule ${name} is not applied: ${advice}`,
      )
    }
  }
}

function textParam(rule: string, params: Params, key: string): string {
  const value = getOwn(params, key)
  if (typeof value !== 'string') throw new RuleFault(`The rule ${rule} needs ${key}, a text`)
  return value
}

function pathParam(rule: string, params: Params, key: string): Path {
  const path = parsePath(textParam(rule, params, key))
  if (path.length > 20)
    throw new RuleFault(`The rule ${rule} has a path of ${path.length} names: at most 20 are followed`)
  return path
}

/** What `fallback` gives: a value of the entry or a fixed one, and of it the value at `valuePath`. */
function replacement(rule: string, params: Params): (root: RawRow) => unknown {
  const path = params.path === undefined ? undefined : pathParam(rule, params, 'path')
  if (path === undefined && params.staticValue === undefined) {
    throw new RuleFault(`The rule ${rule} needs path or staticValue`)
  }
  const within = params.valuePath === undefined ? undefined : pathParam(rule, params, 'valuePath')
  return (root) => {
    const found = path === undefined ? params.staticValue : readPath(root, path)
    const value = within === undefined ? found : readPath(found, within)
    return params.exit === true ? new Ended(value) : value
  }
}

type Condition = (element: unknown, root: RawRow) => boolean

/** Conditions that all have to hold: `{key, operator, value}`, or `valuePath` for a value of the entry. */
function conditionsParam(rule: string, given: unknown): Condition {
  if (!Array.isArray(given) || given.length === 0) {
    throw new RuleFault(`The rule ${rule} needs conditions, a list of {key, operator, value}`)
  }
  const conditions = given.map((each) => compileCondition(rule, each))
  return (element, root) => conditions.every((condition) => condition(element, root))
}

function compileCondition(rule: string, given: unknown): Condition {
  if (!isObject(given)) throw new RuleFault(`A condition of the rule ${rule} is no object`)
  const key = pathParam(rule, given, given.key === undefined && given.path !== undefined ? 'path' : 'key')
  const operator = textParam(rule, given, 'operator')
  const compare = getOwn(operators, operator) as (typeof operators)[string] | undefined
  if (compare === undefined)
    throw new RuleFault(`The rule ${rule} does not know the operator ${operator}: use =, !=, >= or <=`)
  const valuePath = given.valuePath === undefined ? undefined : pathParam(rule, given, 'valuePath')
  if (valuePath === undefined && !Object.hasOwn(given, 'value')) {
    throw new RuleFault(`A condition of the rule ${rule} needs value or valuePath`)
  }
  return (element, root) =>
    compare(readPath(element, key), valuePath ? readPath(root, valuePath) : given.value)
}

/** Values are compared as numbers where both are, else as texts. */
function order(left: unknown, right: unknown): number | undefined {
  const [a, b] = [numberOf(left), numberOf(right)]
  if (a !== undefined && b !== undefined) return a - b
  if (left === undefined || left === null || right === undefined || right === null) {
    return (left ?? undefined) === (right ?? undefined) ? 0 : undefined
  }
  const [first, second] = [textOf(left), textOf(right)]
  return first === second ? 0 : first < second ? -1 : 1
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return undefined
  return Number(value)
}

const operators: Readonly<Record<string, (left: unknown, right: unknown) => boolean>> = {
  '=': (left, right) => order(left, right) === 0,
  '!=': (left, right) => order(left, right) !== 0,
  '>=': (left, right) => (order(left, right) ?? -1) >= 0,
  '<=': (left, right) => (order(left, right) ?? 1) <= 0,
}

/** A value within a text. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The value at a path; with `*` a list of those that are there. An index leads into a list. */
export function readPath(value: unknown, path: Path, from = 0): unknown {
  let current = value
  for (let index = from; index < path.length; index++) {
    const step = path[index] as PathStep
    if (isEvery(step)) {
      const values = Array.isArray(current) ? current : isObject(current) ? Object.values(current) : []
      return values
        .slice(0, maxElements)
        .flatMap((each) => readPath(each, path, index + 1))
        .filter((each) => each !== undefined && each !== null)
    }
    current = readStep(current, (step as { name: string }).name)
    if (current === undefined) return undefined
  }
  return current
}

function readStep(current: unknown, name: string): unknown {
  if (Array.isArray(current)) return /^\d{1,6}$/.test(name) ? current[Number(name)] : undefined
  if (isObject(current)) return getOwn(current, name)
  // An XML element without attributes is its text.
  return name === '#text' ? current : undefined
}

type TemplatePart = string | { readonly path: Path; readonly isCurrent: boolean }

/** A text with `{{path}}` for values of the entry and `{{.}}` for the value so far. */
function templateOf(template: string): TemplatePart[] {
  return template.split(/(\{\{[^{}]{1,500}\}\})/).map((part) => {
    if (!part.startsWith('{{') || !part.endsWith('}}')) return part
    const inner = part.slice(2, -2).trim()
    return { path: parsePath(inner), isCurrent: inner === '.' }
  })
}
