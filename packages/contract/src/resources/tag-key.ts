import { type Static, Type } from 'typebox'
import {
  bodyOf,
  dateTime,
  id,
  like,
  listOf,
  longText,
  named,
  nameText,
  object,
  oneOf,
  responseOnly,
  text,
} from './formats.ts'

export const cardinalities = ['single', 'multiple'] as const
export type Cardinality = (typeof cardinalities)[number]

/** Values of one key. */
export const maxTagValues = 1_000

export const TagValue = named('TagValue', {
  _id: id('Identifier of the value'),
  name: Type.String(),
  description: Type.String(),
})
export type TagValue = Static<typeof TagValue>

/** docs/interface.md, Tag key: the record as it stands after a value was deleted. */
export const TagKey = named('TagKey', {
  id: id('Identifier of the tag key'),
  companyId: id('Company that owns it'),
  resourceGroupIds: listOf(
    Type.String(),
    'Teams that it is meant for; every team where none is named. Every user with the permission to read tag keys reads it',
  ),
  createdAt: dateTime('When it was made'),
  updatedAt: dateTime('When it or one of its values was changed last'),
  type: Type.Literal('Tag'),
  definition: object({
    name: like('Season'),
    assignmentMode: text('`custom`: assigned by hand; `system`: made and assigned by the service', 'custom'),
    cardinality: text(
      '`single`: of the values that a branch meets the last one counts; `multiple`: all of them count',
      'single',
    ),
    values: listOf(TagValue, 'In the order in which they were added'),
    description: Type.String(),
  }),
})
export type TagKey = Static<typeof TagKey>

const maxNameLength = 100
const maxDescriptionLength = 500

const name = nameText('Unique whatever the case of its letters and the spaces around it', maxNameLength, {
  examples: ['Season'],
})
const description = longText('What it is for', maxDescriptionLength)
const cardinality = oneOf(
  cardinalities,
  '`single` when absent. Changing it changes no tag of a branch, only how many of them count from then on, in statistics of the past too',
)
const assignmentMode = oneOf(['custom'], 'Keys that are assigned by hand')
const resourceGroupIds = Type.Array(id('A team of your company'), {
  maxItems: 100,
  description: 'Teams that it is meant for; every team when empty',
})

const value = { name, description: Type.Optional(description) }

/** A value to add. */
export const TagValueCreation = bodyOf('TagValueCreation', TagValue, value)
export type TagValueCreation = Static<typeof TagValueCreation>

const valueUpdate = { name: Type.Optional(name), description: Type.Optional(description) }

/** Partial: a field that is absent stays as it is. */
export const TagValueUpdate = bodyOf('TagValueUpdate', TagValue, valueUpdate)
export type TagValueUpdate = Static<typeof TagValueUpdate>

const creation = {
  resourceGroupIds: Type.Optional(resourceGroupIds),
  definition: object({
    name,
    description: Type.Optional(description),
    cardinality: Type.Optional(cardinality),
    assignmentMode: Type.Optional(assignmentMode),
    values: Type.Optional(Type.Array(TagValueCreation, { maxItems: maxTagValues })),
  }),
}

export const TagKeyCreation = bodyOf('TagKeyCreation', TagKey, creation)
export type TagKeyCreation = Static<typeof TagKeyCreation>

const definitionUpdate = {
  name: Type.Optional(name),
  description: Type.Optional(description),
  cardinality: Type.Optional(cardinality),
  assignmentMode: Type.Optional(assignmentMode),
}

const update = {
  resourceGroupIds: Type.Optional(resourceGroupIds),
  definition: Type.Optional(
    object({ ...definitionUpdate, ...responseOnly(TagKey.properties.definition, definitionUpdate) }),
  ),
}

/** Partial: a field that is absent, at any depth, stays as it is. Values have operations of their own. */
export const TagKeyUpdate = bodyOf('TagKeyUpdate', TagKey, update)
export type TagKeyUpdate = Static<typeof TagKeyUpdate>
