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

interface Shape {
  values: unknown[]
  lists: unknown[][]
  objects: RawRow[]
  keys: Map<string, Shape>
  /** Whether there are more keys than are followed. */
  hasMoreKeys: boolean
  /** Within lists: `variants.*.sku`. */
  elements: Map<string, Shape> | undefined
}

function emptyShape(): Shape {
  return { values: [], lists: [], objects: [], keys: new Map(), hasMoreKeys: false, elements: undefined }
}

/** The columns of rows, in the order in which they are met. Objects become columns of their own, maps remain. */
export function columnsOf(rows: readonly RawRow[]): Column[] {
  const root = emptyShape()
  for (const row of rows) addKeys(root, row, 0, maxColumns)
  const columns: Column[] = []
  for (const [key, shape] of root.keys) collect(columns, shape, [key], [escapeName(key)], rows.length)
  return columns.slice(0, maxColumns)
}

function addKeys(shape: Shape, value: RawRow, level: number, limit: number): void {
  for (const key of Object.keys(value)) {
    let known = shape.keys.get(key)
    if (known === undefined) {
      if (shape.keys.size >= limit) {
        shape.hasMoreKeys = true
        continue
      }
      known = emptyShape()
      shape.keys.set(key, known)
    }
    addValue(known, getOwn(value, key), level)
  }
}

function addValue(shape: Shape, value: unknown, level: number): void {
  if (isEmptyValue(value)) return
  if (isObject(value)) {
    shape.objects.push(value)
    if (level < maxLevels) addKeys(shape, value, level + 1, maxKeys)
  } else if (Array.isArray(value)) {
    const given = value.filter((element) => !isEmptyValue(element))
    if (given.every((element) => typeof element !== 'object')) shape.lists.push(given)
    else addElements(shape, given.filter(isObject), level)
  } else shape.values.push(value)
}

/** What objects of one list have at each key, as a list. */
function addElements(shape: Shape, elements: readonly RawRow[], level: number): void {
  if (level >= maxLevels) return
  shape.elements ??= new Map()
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
    let known = shape.elements.get(key)
    if (known === undefined) {
      if (shape.elements.size >= maxKeys) continue
      known = emptyShape()
      shape.elements.set(key, known)
    }
    known.lists.push(list)
  }
}

const recordNames =
  /^(attributes?|properties|props|metadata|meta|specs?|specifications?|params|labels|custom|extra)$/i

/** Whether objects map keys to values, rather than having fields: their keys differ, or are many. */
function isRecord(shape: Shape, name: string): boolean {
  const shapes = [...shape.keys.values()]
  const isFlat = shapes.every(
    ({ objects, lists, elements }) => objects.length + lists.length === 0 && !elements,
  )
  if (!isFlat) return false
  if (shape.hasMoreKeys || recordNames.test(name)) return true
  const given = shapes.reduce((sum, { values }) => sum + values.length, 0)
  return shapes.length >= 3 && given / (shapes.length * shape.objects.length) < 0.5
}

function collect(
  columns: Column[],
  shape: Shape,
  names: readonly string[],
  path: readonly string[],
  rows: number,
): void {
  const add = (kind: Column['kind'], values: readonly unknown[], at = path) =>
    columns.push({ path: at.join('.'), names, kind, values, missing: rows - values.length })
  if (shape.objects.length > 0) {
    if (isRecord(shape, names.at(-1) as string)) add('record', shape.objects)
    else collectKeys(columns, shape, names, path, rows)
  } else if (shape.lists.length > 0 && shape.elements === undefined) {
    add('list', [...shape.lists, ...shape.values.map((value) => [value])])
  } else if (shape.elements === undefined) add('single', shape.values)
  for (const [key, element] of shape.elements ?? []) {
    collect(columns, element, [...names, key], [...path, '*', escapeName(key)], rows)
  }
}

function collectKeys(
  columns: Column[],
  shape: Shape,
  names: readonly string[],
  path: readonly string[],
  rows: number,
): void {
  for (const [key, inner] of shape.keys) {
    // An element that has attributes in some entries only: its text is the value in all of them.
    if (key === '#text') inner.values.push(...shape.values)
    const inside = key === '#text' ? names : [...names, key.replace(/^@/, '')]
    collect(columns, inner, inside, [...path, escapeName(key)], rows)
  }
}
