import { languages } from '@millrace/contract/languages.ts'
import { type Attribute, attribute, commonAttributes, opaque, readOnly } from './attribute.ts'
import { enterpriseSchema } from './schemas.ts'

/** Several values, each with its kind (RFC 7643 2.4). */
function several(name: string, description: string, value: string, options: Partial<Attribute> = {}) {
  return attribute(name, description, {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', value, options),
      attribute('display', 'How it is shown'),
      attribute('type', 'What it is for, such as work or home'),
      attribute('primary', 'Whether it is the first choice', { type: 'boolean' }),
    ],
  })
}

const addressParts = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country']
const reference = { type: 'reference', referenceTypes: ['external'], ...opaque } as const
const binary = { type: 'binary', ...opaque } as const

/** RFC 7643 4.1: what a user has. */
export const userAttributes: readonly Attribute[] = [
  ...commonAttributes,
  attribute('userName', 'E-mail address that the user signs in with, in lower case', {
    required: true,
    uniqueness: 'server',
  }),
  attribute('name', 'Name of the user', {
    type: 'complex',
    subAttributes: [
      attribute('formatted', 'Full name; first and last name unless it is given'),
      attribute('familyName', 'Last name'),
      attribute('givenName', 'First name'),
      attribute('middleName', 'Middle names'),
      attribute('honorificPrefix', 'Title in front of the name'),
      attribute('honorificSuffix', 'Suffix behind the name'),
    ],
  }),
  attribute('displayName', 'Name as it is shown; the name or the address unless it is given'),
  attribute('nickName', 'Casual name'),
  attribute('profileUrl', 'Page about the user', reference),
  attribute('title', 'Job title'),
  attribute('userType', 'Relation to the organisation'),
  attribute(
    'preferredLanguage',
    `Language tag; ${languages.join(' and ')}, with or without a region, choose the language here`,
  ),
  attribute('locale', 'Language tag for numbers and dates'),
  attribute('timezone', 'IANA name of the time zone'),
  attribute('active', 'Whether the user may sign in', { type: 'boolean' }),
  several('emails', 'Addresses; the account has that of userName', 'Address'),
  several(
    'phoneNumbers',
    'Numbers; the account has the primary one, or that of work, or the first',
    'Number',
  ),
  several('ims', 'Addresses of instant messaging', 'Address'),
  several('photos', 'Pictures of the user', 'Address of the picture', reference),
  attribute('addresses', 'Postal addresses', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      ...addressParts.map((name) => attribute(name, 'Part of the address')),
      attribute('type', 'What it is for, such as work or home'),
      attribute('primary', 'Whether it is the first choice', { type: 'boolean' }),
    ],
  }),
  several('entitlements', 'Kept and given back; nothing is granted by them', 'Entitlement'),
  several('roles', 'Kept and given back; roles come from groups or from administrators', 'Role'),
  several('x509Certificates', 'Certificates', 'Certificate in Base64', binary),
  attribute('groups', 'Groups that the user is in', {
    type: 'complex',
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute('value', 'Identifier of the group', readOnly),
      attribute('display', 'Name of the group', readOnly),
      attribute('$ref', 'Address of the group', {
        type: 'reference',
        referenceTypes: ['Group'],
        ...readOnly,
      }),
      attribute('type', 'Always direct', readOnly),
    ],
  }),
]

/** RFC 7643 4.3. */
export const enterpriseAttributes: readonly Attribute[] = [
  attribute('employeeNumber', 'Number of the employee'),
  attribute('costCenter', 'Cost centre'),
  attribute('organization', 'Organisation'),
  attribute('division', 'Division'),
  attribute('department', 'Department'),
  attribute('manager', 'Manager of the user', {
    type: 'complex',
    subAttributes: [
      attribute('value', 'Identifier of the manager'),
      attribute('$ref', 'Address of the manager', { type: 'reference', referenceTypes: ['User'], ...opaque }),
      attribute('displayName', 'Name of the manager'),
    ],
  }),
]

/** An attribute and where it stands in a user. */
export interface AttributePlace {
  /** Whether it is one of the enterprise extension. */
  readonly isExtension: boolean
  readonly root: Attribute
  readonly sub: Attribute | undefined
}

const byName = (attributes: readonly Attribute[]): ReadonlyMap<string, Attribute> =>
  new Map(attributes.map((each) => [each.name.toLowerCase(), each]))

/** What accounts keep as such, what is read-only, and those that a user has and no request changes here. */
const elsewhere: ReadonlySet<string> = new Set(['id', 'userName', 'active', 'groups'])
const core = byName(userAttributes.filter(({ name }) => !elsewhere.has(name)))
const extension = byName(enterpriseAttributes)
const extensionPrefix = `${enterpriseSchema.toLowerCase()}:`

export function findSubAttribute({ subAttributes = [] }: Attribute, name: string): Attribute | undefined {
  return subAttributes.find((each) => each.name.toLowerCase() === name)
}

/**
 * The attribute that is kept under a name in lower case, with its part behind a dot. Attributes of the enterprise
 * extension are found without its name too: some senders leave it out.
 */
export function findAttribute(name: string): AttributePlace | undefined {
  const isNamed = name.startsWith(extensionPrefix)
  const [first = '', part, ...more] = (isNamed ? name.slice(extensionPrefix.length) : name).split('.')
  const ofCore = isNamed ? undefined : core.get(first)
  const root = ofCore ?? extension.get(first)
  if (!root || more.length > 0) return undefined
  const sub = part === undefined ? undefined : findSubAttribute(root, part)
  if (part !== undefined && !sub) return undefined
  return { isExtension: ofCore === undefined, root, sub }
}
