import { type Static, Type } from 'typebox'
import { dateTime, id, longText, nameText, oneOf, responseOnly, strict } from './formats.ts'

export const cardinalities = ['single', 'multiple'] as const
export type Cardinality = (typeof cardinalities)[number]

/** Values of one key. */
export const maxTagValues = 1_000

export const TagValue = Type.Object(
  { _id: id('Identifier of the value'), name: Type.String(), description: Type.String() },
  { ...strict, title: 'TagValue' },
)
export type TagValue = Static<typeof TagValue>

/** docs/interface.md, Tag key: the record as it stands after a value was deleted. */
export const TagKey = Type.Object(
  {
    id: id('Identifier of the tag key'),
    companyId: id('Company that owns it'),
    resourceGroupIds: Type.Array(Type.String(), {
      description:
        'Teams that it is meant for; every team where none is named. Every user with the permission to read tag keys reads it',
    }),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it or one of its values was changed last'),
    type: Type.Literal('Tag'),
    definition: Type.Object(
      {
        name: Type.String({ examples: ['Season'] }),
        assignmentMode: Type.String({
          description: '`custom`: assigned by hand; `system`: made and assigned by the service',
          examples: ['custom'],
        }),
        cardinality: Type.String({
          description:
            '`single`: of the values that a branch meets the last one counts; `multiple`: all of them count',
          examples: ['single'],
        }),
        values: Type.Array(TagValue, { description: 'In the order in which they were added' }),
        description: Type.String(),
      },
      strict,
    ),
  },
  { ...strict, title: 'TagKey' },
)
export type TagKey = Static<typeof TagKey>

const maxNameLength = 100
const maxDescriptionLength = 500

const name = nameText('Unique whatever the case of its letters and the spaces around it', maxNameLength, {
  examples: ['Season'],
})
const description = longText('What it is for', maxDescriptionLength)
const cardinality = oneOf(cardinalities, {
  description:
    '`single` when absent. Changing it changes no tag of a branch, only how many of them count from then on, in statistics of the past too',
})
const assignmentMode = oneOf(['custom'], { description: 'Keys that are assigned by hand' })
const resourceGroupIds = Type.Array(id('A team of your company'), {
  maxItems: 100,
  description: 'Teams that it is meant for; every team when empty',
})

const value = { name, description: Type.Optional(description) }

/** A value to add. */
export const TagValueCreation = Type.Object(
  { ...value, ...responseOnly(TagValue, value) },
  { ...strict, title: 'TagValueCreation' },
)
export type TagValueCreation = Static<typeof TagValueCreation>

const valueUpdate = { name: Type.Optional(name), description: Type.Optional(description) }

/** Partial: a field that is absent stays as it is. */
export const TagValueUpdate = Type.Object(
  { ...valueUpdate, ...responseOnly(TagValue, valueUpdate) },
  { ...strict, title: 'TagValueUpdate' },
)
export type TagValueUpdate = Static<typeof TagValueUpdate>

const creation = {
  resourceGroupIds: Type.Optional(resourceGroupIds),
  definition: Type.Object(
    {
      name,
      description: Type.Optional(description),
      cardinality: Type.Optional(cardinality),
      assignmentMode: Type.Optional(assignmentMode),
      values: Type.Optional(Type.Array(TagValueCreation, { maxItems: maxTagValues })),
    },
    strict,
  ),
}

export const TagKeyCreation = Type.Object(
  { ...creation, ...responseOnly(TagKey, creation) },
  { ...strict, title: 'TagKeyCreation' },
)
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
    Type.Object(
      { ...definitionUpdate, ...responseOnly(TagKey.properties.definition, definitionUpdate) },
      strict,
    ),
  ),
}

/** Partial: a field that is absent, at any depth, stays as it is. Values have operations of their own. */
export const TagKeyUpdate = Type.Object(
  { ...update, ...responseOnly(TagKey, update) },
  { ...strict, title: 'TagKeyUpdate' },
)
export type TagKeyUpdate = Static<typeof TagKeyUpdate>
