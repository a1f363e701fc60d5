import { isObject } from '../../../platform/plain-object.ts'
import { getOwn } from '../formats/own-properties.ts'
import { escapeName } from '../formats/path.ts'
import type { RawRow } from '../formats/source-options.ts'
import { isEmptyValue } from './empty-values.ts'

/** A value that entries have at one path. */
export interface Column {
  /** Path of the value in its entry, as the rule `path` takes it. */
  readonly path: string
  /** Names on the way, without lists: `address`, `city`. */
  readonly names: readonly string[]
  readonly kind: 'single' | 'list' | 'record'
  /** Values that are not empty, in the order of the rows: single values, lists of them, or objects. */
  readonly values: readonly unknown[]
  /** Rows without a value. */
  readonly missing: number
}

/** Columns that are followed; the rest of a row with more is ignored. */
const maxColumns = 2000
/** Keys of an object that are followed: one with more maps keys to values. */
const maxKeys = 60
const maxLevels = 6

interface Node {
  values: unknown[]
  lists: unknown[][]
  objects: RawRow[]
  keys: Map<string, Node>
  /** Whether there are more keys than are followed. */
  hasMoreKeys: boolean
  /** Within lists: `variants.*.sku`. */
  elements: Map<string, Node> | undefined
}

function emptyNode(): Node {
  return { values: [], lists: [], objects: [], keys: new Map(), hasMoreKeys: false, elements: undefined }
}

/** The columns of rows, in the order in which they are met. Objects become columns of their own, maps remain. */
export function columnsOf(rows: readonly RawRow[]): Column[] {
  const root = emptyNode()
  for (const row of rows) addKeys(root, row, 0, maxColumns)
  const columns: Column[] = []
  for (const [key, node] of root.keys) collect(columns, node, [key], [escapeName(key)], rows.length)
  return columns.slice(0, maxColumns)
}

function addKeys(node: Node, value: RawRow, level: number, limit: number): void {
  for (const key of Object.keys(value)) {
    let known = node.keys.get(key)
    if (known === undefined) {
      if (node.keys.size >= limit) {
        node.hasMoreKeys = true
        continue
      }
      known = emptyNode()
      node.keys.set(key, known)
    }
    addValue(known, getOwn(value, key), level)
  }
}

function addValue(node: Node, value: unknown, level: number): void {
  if (isEmptyValue(value)) return
  if (isObject(value)) {
    node.objects.push(value)
    if (level < maxLevels) addKeys(node, value, level + 1, maxKeys)
  } else if (Array.isArray(value)) {
    const given = value.filter((element) => !isEmptyValue(element))
    if (given.every((element) => typeof element !== 'object')) node.lists.push(given)
    else addElements(node, given.filter(isObject), level)
  } else node.values.push(value)
}

/** What objects of one list have at each key, as a list. */
function addElements(node: Node, elements: readonly RawRow[], level: number): void {
  if (level >= maxLevels) return
  node.elements ??= new Map()
  const lists = new Map<string, unknown[]>()
  for (const element of elements) {
    for (const key of Object.keys(element)) {
      const value = getOwn(element, key)
      if (isEmptyValue(value) || typeof value === 'object') continue
      const list = lists.get(key)
      if (list) list.push(value)
      else if (lists.size < maxKeys) lists.set(key, [value])
    }
  }
  for (const [key, list] of lists) {
    let known = node.elements.get(key)
    if (known === undefined) {
      if (node.elements.size >= maxKeys) continue
      known = emptyNode()
      node.elements.set(key, known)
    }
    known.lists.push(list)
  }
}

const recordNames =
  /^(attributes?|properties|props|metadata|meta|specs?|specifications?|params|labels|custom|extra)$/i

/** Whether objects map keys to values, rather than having fields: their keys differ, or are many. */
function isRecord(node: Node, name: string): boolean {
  const nodes = [...node.keys.values()]
  const isFlat = nodes.every(
    ({ objects, lists, elements }) => objects.length + lists.length === 0 && !elements,
  )
  if (!isFlat) return false
  if (node.hasMoreKeys || recordNames.test(name)) return true
  const given = nodes.reduce((sum, { values }) => sum + values.length, 0)
  return nodes.length >= 3 && given / (nodes.length * node.objects.length) < 0.5
}

function collect(
  columns: Column[],
  node: Node,
  names: readonly string[],
  path: readonly string[],
  rows: number,
): void {
  const add = (kind: Column['kind'], values: readonly unknown[], at = path) =>
    columns.push({ path: at.join('.'), names, kind, values, missing: rows - values.length })
  if (node.objects.length > 0) {
    if (isRecord(node, names.at(-1) as string)) add('record', node.objects)
    else collectKeys(columns, node, names, path, rows)
  } else if (node.lists.length > 0 && node.elements === undefined) {
    add('list', [...node.lists, ...node.values.map((value) => [value])])
  } else if (node.elements === undefined) add('single', node.values)
  for (const [key, element] of node.elements ?? []) {
    collect(columns, element, [...names, key], [...path, '*', escapeName(key)], rows)
  }
}

function collectKeys(
  columns: Column[],
  node: Node,
  names: readonly string[],
  path: readonly string[],
  rows: number,
): void {
  for (const [key, inner] of node.keys) {
    // An element that has attributes in some entries only: its text is the value in all of them.
    if (key === '#text') inner.values.push(...node.values)
    const inside = key === '#text' ? names : [...names, key.replace(/^@/, '')]
    collect(columns, inner, inside, [...path, escapeName(key)], rows)
  }
}
