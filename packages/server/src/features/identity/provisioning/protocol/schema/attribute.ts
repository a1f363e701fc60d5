/** The description of an attribute (RFC 7643 7), by which values are read too. */
export type Attribute = {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'binary'
  readonly multiValued: boolean
  readonly description: string
  readonly required: boolean
  readonly caseExact: boolean
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable'
  readonly returned: 'default' | 'always'
  readonly uniqueness: 'none' | 'server'
  readonly referenceTypes?: readonly string[]
  readonly subAttributes?: readonly Attribute[]
}

type Options = Partial<Omit<Attribute, 'name' | 'description'>>

/** With what most attributes have as defaults. */
export function attribute(name: string, description: string, options: Options = {}): Attribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...options,
  }
}

export const readOnly = { mutability: 'readOnly' } as const
export const opaque = { caseExact: true } as const

/** What every resource has (RFC 7643 3.1). */
export const commonAttributes: readonly Attribute[] = [
  attribute('id', 'Identifier of the resource', {
    ...opaque,
    ...readOnly,
    returned: 'always',
    uniqueness: 'server',
  }),
  attribute('externalId', 'Identifier of the identity provider, opaque', { ...opaque, uniqueness: 'server' }),
]
