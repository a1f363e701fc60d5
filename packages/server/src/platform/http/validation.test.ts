import { allOperations } from '@millrace/contract/operations/all.ts'
import { describe, expect, test } from 'vitest'
import { compileValidator } from './validation.ts'

test('a schema that cannot be compiled fails with its first request, not unnoticed', () => {
  const validate = compileValidator({ schema: { type: 'text' }, url: '/', method: 'POST', httpPart: 'body' })
  expect(() => validate({})).toThrow(/schema is invalid/)
})

test.each(allOperations)('the schemas of $id compile', ({ url, method, schema }) => {
  for (const httpPart of ['params', 'querystring', 'headers', 'body'] as const) {
    const part = (schema as Partial<Record<typeof httpPart, object>>)[httpPart]
    if (part) expect(compileValidator({ schema: part as never, url, method, httpPart })({})).toBeDefined()
  }
})

describe('a message', () => {
  const messageOf = (schema: Record<string, unknown>, value: unknown): string | undefined => {
    const validate = compileValidator({ schema, url: '/', method: 'POST', httpPart: 'body' })
    return (validate(value) as { error?: Error }).error?.message
  }
  const of = (property: object) => (value: unknown) =>
    messageOf({ type: 'object', properties: { a: property } }, { a: value })

  test.each([
    [{ type: 'number', minimum: 1 }, 0, 'a must be at least 1; it is 0'],
    [{ type: 'number', maximum: 1 }, 50, 'a must be at most 1; it is 50'],
    [{ type: 'number', exclusiveMinimum: 0 }, 0, 'a must be more than 0; it is 0'],
    [{ type: 'number', exclusiveMaximum: 9 }, 9, 'a must be less than 9; it is 9'],
    [{ type: 'number', maximum: 1, writeOnly: true }, 50, 'a must be at most 1'],
    [{ type: 'string', minLength: 1 }, '', 'a must not be empty'],
    [{ type: 'string', minLength: 3 }, 'é😀', 'a must have at least 3 characters; it has 2'],
    [{ type: 'string', maxLength: 1 }, 'é😀', 'a must have at most 1 character; it has 2'],
    [{ type: 'array', minItems: 1 }, [], 'a must not be empty'],
    [{ type: 'array', minItems: 2 }, [1], 'a must have at least 2 items; it has 1'],
    [{ type: 'array', maxItems: 1 }, [1, 2], 'a must have at most 1 item; it has 2'],
    [
      { type: 'array', uniqueItems: true },
      [1, 2, 1],
      'a must have no duplicates; items 0 and 2 are the same',
    ],
    [
      { type: 'array', uniqueItems: true, items: { type: 'string' } },
      ['x', 'y', 'x'],
      'a must have no duplicates; items 0 and 2 are the same',
    ],
    [{ type: 'object', minProperties: 1 }, {}, 'a must not be empty'],
    [{ type: 'object', maxProperties: 1 }, { b: 1, c: 2 }, 'a must have at most 1 field; it has 2'],
  ])('says the bound of %j and what %j has', (property, value, message) => {
    expect(of(property)(value)).toBe(message)
  })

  test('names what was probably meant to be the required name', () => {
    const strict = { required: ['name'], properties: { name: {} }, additionalProperties: false }
    expect(messageOf({ type: 'object', ...strict }, { names: 1 })).toBe(
      'name is required; "names" is not known',
    )
    expect(messageOf({ type: 'object', ...strict }, { other: 1 })).toBe('name is required')
    expect(messageOf({ type: 'object', ...strict, additionalProperties: true }, { names: 1 })).toBe(
      'name is required',
    )
  })
})
