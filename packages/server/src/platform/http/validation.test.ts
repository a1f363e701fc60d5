import { allOperations } from '@millrace/contract/operations/all.ts'
import { expect, test } from 'vitest'
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
