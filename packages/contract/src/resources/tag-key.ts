import { type Static, Type } from 'typebox'
import { dateTime, id, strict } from './formats.ts'

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
    resourceGroupIds: Type.Array(Type.String()),
    createdAt: dateTime('When it was made'),
    updatedAt: dateTime('When it was changed last'),
    type: Type.Literal('Tag'),
    definition: Type.Object(
      {
        name: Type.String(),
        assignmentMode: Type.String({
          description: '`custom`: assigned by hand; other modes are assigned by the service',
          examples: ['custom'],
        }),
        cardinality: Type.String({
          description: '`single`: the last value of a branch counts; else every value that it met',
          examples: ['single'],
        }),
        values: Type.Array(TagValue),
        description: Type.String(),
      },
      strict,
    ),
  },
  { ...strict, title: 'TagKey' },
)
export type TagKey = Static<typeof TagKey>
