import type { Fault } from '@millrace/contract/failure-data.ts'
import type { DatasourceField } from '@millrace/contract/resources/datasource-field.ts'
import {
  fieldNamePattern,
  type WorkerField,
  type WorkerFieldChange,
  type WorkerFieldsUpdate,
} from '@millrace/contract/resources/datasource-version.ts'
import { primitiveOfType } from '../analyzer/field-types.ts'
import { ruleFaults } from '../analyzer/row-mapper.ts'
import { unknownField } from '../unknown-field.ts'
import type { StoredWorker } from './worker-store.ts'

type FieldType = DatasourceField['type']

const nameRule = new RegExp(fieldNamePattern)
const maxNameLength = 64
/** Keys that the interface leaves out of every body. */
const reservedNames = new Set(['constructor', 'prototype'])
const maxSelected = 64
/** A worker datasource reads one source, the first. */
const onlySource = '0'
/** Characters of JSON of all fields of a datasource. */
const maxFieldsLength = 1_000_000

/** Each type of datasource needs one of these sets of types among its fields. */
const neededTypes: Readonly<Record<StoredWorker['type'], readonly (readonly FieldType[])[]>> = {
  generic: [[]],
  product: [['reference_id'], ['product_id']],
  location: [
    ['reference_id', 'latitude', 'longitude'],
    ['reference_id', 'address_1', 'city', 'country'],
    ['reference_id', 'address_1', 'zipcode', 'country'],
  ],
  crm: [['workflow_user']],
}

/** The fields that result from a change of some, or the whole list. */
export function changeFields(
  present: readonly WorkerField[],
  { fields, changes }: WorkerFieldsUpdate,
): { readonly fields: WorkerField[] } | { readonly faults: readonly Fault[] } {
  if ((fields === undefined) === (changes === undefined)) {
    return { faults: [{ path: 'fields', message: 'must be given, or changes instead of it' }] }
  }
  if (fields) {
    const faults = faultsOfFields(fields)
    return faults.length > 0 ? { faults } : { fields }
  }
  const unknown = (changes ?? []).flatMap(({ name }, i) =>
    present.some((field) => field.name === name)
      ? []
      : [
          {
            path: `changes.${i}.name`,
            message: unknownField(
              name,
              present.map((field) => field.name),
            ),
          },
        ],
  )
  if (unknown.length > 0) return { faults: unknown }
  const changed = present.map((field) => {
    const mine = (changes ?? []).filter(({ name }) => name === field.name)
    return mine.reduce((result, change) => changeField(result, change), field)
  })
  const faults = faultsOfFields(changed)
  return faults.length > 0 ? { faults } : { fields: changed }
}

function changeField(field: WorkerField, { name: _, rename, type, ...rest }: WorkerFieldChange): WorkerField {
  return {
    ...field,
    ...(rename !== undefined && { name: rename }),
    ...(type !== undefined && { type, primitive: primitiveOfType[type] }),
    ...rest,
  }
}

export function faultsOfFields(fields: readonly WorkerField[]): Fault[] {
  const faults: Fault[] = []
  const add = (index: number, path: string, message: string) =>
    faults.push({ path: `fields.${index}.${path}`, message })
  const places = new Map<string, number>()
  let [selected, key] = [0, undefined as string | undefined]
  for (const [i, field] of fields.entries()) {
    const { name, type, primitive, isKey, isSelected } = { ...field, isSelected: field.selected }
    if (name.length > maxNameLength || !nameRule.test(name)) {
      add(
        i,
        'name',
        `must be at most ${maxNameLength} lower-case letters, digits, dashes and underscores, the first a letter; it is "${name.slice(0, 80)}"`,
      )
    }
    if (reservedNames.has(name))
      add(i, 'name', `must be another one: bodies of requests cannot hold "${name}"`)
    const before = places.get(name)
    if (before !== undefined) add(i, 'name', `names "${name}" twice: fields.${before} has it too`)
    places.set(name, i)
    if (primitive !== primitiveOfType[type]) {
      add(i, 'primitive', `must be ${primitiveOfType[type]}, as values of the type ${type} are kept`)
    }
    if (isSelected) selected++
    if (isSelected && !field.rulesPerSources[onlySource]?.length) {
      add(
        i,
        'rulesPerSources',
        `must have rules for the source "${onlySource}", as {"${onlySource}": [{"name": "path", "params": {"value": "${name.slice(0, maxNameLength)}"}}]}: without them the field has no value in any row`,
      )
    }
    for (const flag of ['isKey', 'isPerson'] as const) {
      if (!field[flag]) continue
      if (!isSelected) add(i, flag, 'is true, so that the field must be selected')
      if (primitive !== 'string' && primitive !== 'number') {
        add(i, flag, 'must be of a field of texts or numbers')
      }
    }
    if (!isKey) continue
    if (key !== undefined) add(i, 'isKey', `is true for "${key}" already: one field at most is the key`)
    key = name
  }
  for (const { field, message } of ruleFaults(fields)) {
    add(places.get(field) ?? 0, 'rulesPerSources', message)
  }
  if (selected > maxSelected) {
    faults.push({
      path: 'fields',
      message: `must have at most ${maxSelected} selected fields, they are ${selected}`,
    })
  }
  if (JSON.stringify(fields).length > maxFieldsLength) {
    faults.push({ path: 'fields', message: `must have at most ${maxFieldsLength} characters of JSON` })
  }
  return faults
}

/** Names of live fields that name a person, as they say themselves or those say that are to go live. */
export function personFieldsOf(draft: readonly WorkerField[], live: readonly WorkerField[]): string[] {
  const named = new Set([...draft, ...live].filter(({ isPerson }) => isPerson).map(({ name }) => name))
  return live.map(({ name }) => name).filter((name) => named.has(name))
}

/** What the fields lack for a datasource of this type to go live. */
export function faultsOfType(type: StoredWorker['type'], fields: readonly WorkerField[]): Fault[] {
  const have = new Set(fields.filter(({ selected }) => selected).map((field) => field.type))
  const sets = neededTypes[type]
  if (sets.some((needed) => needed.every((each) => have.has(each)))) return []
  const wanted = sets.map((needed) => needed.join(', ')).join('; or ')
  return [
    {
      path: 'fields',
      message: `must have selected fields of the types ${wanted} for a datasource of type ${type}`,
    },
  ]
}
