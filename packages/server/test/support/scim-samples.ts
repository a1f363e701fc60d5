/**
 * Requests in the shapes that Okta and Entra ID send, in the order in which they send them. Texts in braces
 * stand for what an earlier reply gave: `{user}` is replaced by the id that was kept under `user`.
 */

export interface SampleRequest {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** Under which name the id of the reply is kept. */
  readonly keep?: string
  readonly status: number
  /** What the reply holds among other things. */
  readonly expect?: object
}

const user = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const group = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const list = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const error = 'urn:ietf:params:scim:api:messages:2.0:Error'

const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()
const oktaPatch = (...operations: object[]) => ({ schemas: [patchOp], Operations: operations })

const oktaUser = {
  schemas: [user],
  userName: 'runscope300abc@atko.example',
  name: { givenName: 'Runscope', familyName: 'Okta' },
  emails: [{ primary: true, value: 'runscope300abc@atko.example', type: 'work' }],
  displayName: 'Runscope Okta',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
}

/** Okta's SPEC tests, then what its provisioning agent does with one person and one pushed group. */
export const oktaRequests: readonly SampleRequest[] = [
  {
    name: 'the first user of the list',
    method: 'GET',
    path: '/Users?count=1&startIndex=1',
    status: 200,
    expect: { schemas: [list], itemsPerPage: 1, startIndex: 1 },
  },
  {
    name: 'a user who does not exist',
    method: 'GET',
    path: '/Users/00919288221112222',
    status: 404,
    expect: { schemas: [error], status: '404' },
  },
  {
    name: 'a filter that matches nobody',
    method: 'GET',
    path: `/Users?${query({ filter: 'userName eq "runscope300abc@atko.example"', startIndex: '1', count: '100' })}`,
    status: 200,
    expect: { schemas: [list], totalResults: 0, Resources: [] },
  },
  {
    name: 'creating a user',
    method: 'POST',
    path: '/Users',
    body: oktaUser,
    keep: 'user',
    status: 201,
    expect: {
      schemas: [user],
      active: true,
      userName: 'runscope300abc@atko.example',
      name: { givenName: 'Runscope', familyName: 'Okta' },
      emails: [{ value: 'runscope300abc@atko.example' }],
    },
  },
  {
    name: 'reading the user',
    method: 'GET',
    path: '/Users/{user}',
    status: 200,
    expect: { userName: 'runscope300abc@atko.example', externalId: '00ujl29u0le5T6Aj10h7' },
  },
  {
    name: 'creating the same user again',
    method: 'POST',
    path: '/Users',
    body: oktaUser,
    status: 409,
    expect: { schemas: [error], status: '409', scimType: 'uniqueness' },
  },
  {
    name: 'a userName in another case',
    method: 'GET',
    path: `/Users?${query({ filter: 'userName eq "RUNSCOPE300ABC@ATKO.EXAMPLE"' })}`,
    status: 200,
    expect: { totalResults: 1 },
  },
  {
    name: 'replacing the user',
    method: 'PUT',
    path: '/Users/{user}',
    body: {
      ...oktaUser,
      id: '{user}',
      name: { givenName: 'Another', middleName: 'Excited', familyName: 'Okta' },
      title: 'Engineer',
      meta: { resourceType: 'User' },
    },
    status: 200,
    expect: { active: true, title: 'Engineer', name: { givenName: 'Another', familyName: 'Okta' } },
  },
  {
    name: 'pushing a group',
    method: 'POST',
    path: '/Groups',
    body: { schemas: [group], displayName: 'Okta engineers', members: [] },
    keep: 'group',
    status: 201,
    expect: { displayName: 'Okta engineers' },
  },
  {
    name: 'putting the user into the group',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: oktaPatch({
      op: 'add',
      path: 'members',
      value: [{ value: '{user}', display: 'runscope300abc@atko.example' }],
    }),
    status: 204,
  },
  {
    name: 'renaming the group',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: oktaPatch({ op: 'replace', value: { id: '{group}', displayName: 'Okta builders' } }),
    status: 204,
  },
  {
    name: 'reading the group',
    method: 'GET',
    path: '/Groups/{group}',
    status: 200,
    expect: { displayName: 'Okta builders', members: [{ value: '{user}' }] },
  },
  {
    name: 'replacing the members with a removal before',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: oktaPatch(
      { op: 'remove', path: 'members[value eq "{user}"]' },
      { op: 'add', path: 'members', value: [{ value: '{user}' }] },
    ),
    status: 204,
  },
  {
    name: 'deactivating the user',
    method: 'PATCH',
    path: '/Users/{user}',
    body: oktaPatch({ op: 'replace', value: { active: false } }),
    status: 200,
    expect: { active: false },
  },
  {
    name: 'finding the deactivated user',
    method: 'GET',
    path: '/Users/{user}',
    status: 200,
    expect: { active: false, userName: 'runscope300abc@atko.example' },
  },
  {
    name: 'reactivating the user',
    method: 'PUT',
    path: '/Users/{user}',
    body: oktaUser,
    status: 200,
    expect: { active: true },
  },
  { name: 'deleting the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
]

const entraUser = {
  schemas: [user, enterprise],
  externalId: '58342554-38d6-4ec8-948c-50044d0a33fd',
  userName: 'Andrew_1234@Contoso.example',
  active: true,
  displayName: 'lennay',
  emails: [{ primary: true, type: 'work', value: 'andrew.other@contoso.example' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Andrew Smith', familyName: 'Smith', givenName: 'Andrew' },
  roles: [],
  addresses: [{ type: 'work', country: 'FR', formatted: 'Paris' }],
  preferredLanguage: 'fr-FR',
  [enterprise]: { department: 'Sales', manager: { value: '00aa00bb00cc00dd00ee00ff' } },
}

const entraGroup = 'f1d4a0d2-11ac-4b6f-8a3c-1df8b0b1b8a4'

/** What Entra ID sends in a cycle: probe, match, create, change, groups, turn off, delete. */
export const entraRequests: readonly SampleRequest[] = [
  {
    name: 'the test of the connection',
    method: 'GET',
    path: `/Users?${query({ filter: 'userName eq "7c1d2e4a-5f0b-4e1b-9b54-6f2c3b8f9d10"' })}`,
    status: 200,
    expect: { totalResults: 0, Resources: [] },
  },
  { name: 'the schemas', method: 'GET', path: '/Schemas', status: 200, expect: { schemas: [list] } },
  {
    name: 'matching by userName',
    method: 'GET',
    path: `/Users?${query({ filter: 'userName eq "Andrew_1234@Contoso.example"' })}`,
    status: 200,
    expect: { totalResults: 0 },
  },
  {
    name: 'creating a user with the enterprise extension',
    method: 'POST',
    path: '/Users',
    body: entraUser,
    keep: 'user',
    status: 201,
    expect: {
      userName: 'andrew_1234@contoso.example',
      active: true,
      externalId: '58342554-38d6-4ec8-948c-50044d0a33fd',
      preferredLanguage: 'fr-FR',
      displayName: 'lennay',
      emails: [{ primary: true, type: 'work', value: 'andrew.other@contoso.example' }],
      addresses: [{ type: 'work', country: 'FR', formatted: 'Paris' }],
      [enterprise]: { department: 'Sales', manager: { value: '00aa00bb00cc00dd00ee00ff' } },
    },
  },
  {
    name: 'matching by externalId',
    method: 'GET',
    path: `/Users?${query({ filter: 'externalId eq "58342554-38d6-4ec8-948c-50044d0a33fd"' })}`,
    status: 200,
    expect: { totalResults: 1, Resources: [{ id: '{user}' }] },
  },
  {
    name: 'changing attributes by paths',
    method: 'PATCH',
    path: '/Users/{user}',
    body: {
      schemas: [patchOp],
      Operations: [
        { op: 'Replace', path: 'name.givenName', value: 'Andy' },
        { op: 'Add', path: 'title', value: 'Manager' },
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@contoso.example' },
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '+33 1 23 45 67 89' },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+33 6 12 34 56 78' },
        { op: 'Replace', path: 'addresses[type eq "work"].country', value: 'DE' },
        { op: 'Replace', path: `${enterprise}:department`, value: 'Marketing' },
        { op: 'Add', path: `${enterprise}:manager`, value: '00aa00bb00cc00dd00ee00fe' },
      ],
    },
    status: 200,
    expect: {
      userName: 'andrew_1234@contoso.example',
      name: { givenName: 'Andy', familyName: 'Smith' },
      title: 'Manager',
      emails: [{ primary: true, type: 'work', value: 'updated@contoso.example' }],
      phoneNumbers: [
        { type: 'work', value: '+33 1 23 45 67 89' },
        { type: 'mobile', value: '+33 6 12 34 56 78' },
      ],
      addresses: [{ type: 'work', country: 'DE', formatted: 'Paris' }],
      [enterprise]: { department: 'Marketing', manager: { value: '00aa00bb00cc00dd00ee00fe' } },
    },
  },
  {
    name: 'changing attributes by one object with dotted keys',
    method: 'PATCH',
    path: '/Users/{user}',
    body: {
      schemas: [patchOp],
      Operations: [
        {
          op: 'Replace',
          value: {
            displayName: 'Andrew S.',
            'name.familyName': 'Smythe',
            'emails[type eq "work"].value': 'x@contoso.example',
            [`${enterprise}:employeeNumber`]: '7',
          },
        },
      ],
    },
    status: 200,
    expect: {
      displayName: 'Andrew S.',
      name: { givenName: 'Andy', familyName: 'Smythe' },
      emails: [{ primary: true, type: 'work', value: 'x@contoso.example' }],
      [enterprise]: { employeeNumber: '7' },
    },
  },
  {
    name: 'clearing an attribute',
    method: 'PATCH',
    path: '/Users/{user}',
    body: { schemas: [patchOp], Operations: [{ op: 'Remove', path: 'title' }] },
    status: 200,
  },
  {
    name: 'matching a group without its members',
    method: 'GET',
    path: `/Groups?${query({ excludedAttributes: 'members', filter: 'displayName eq "Contoso sales"' })}`,
    status: 200,
    expect: { totalResults: 0 },
  },
  {
    name: 'creating a group with an externalId',
    method: 'POST',
    path: '/Groups',
    body: {
      schemas: [group, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: entraGroup,
      displayName: 'Contoso sales',
      meta: { resourceType: 'Group' },
    },
    keep: 'group',
    status: 201,
    expect: { externalId: entraGroup, members: [] },
  },
  {
    name: 'adding members as a list of values',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: {
      schemas: [patchOp],
      Operations: [{ op: 'Add', path: 'members', value: [{ $ref: null, value: '{user}' }] }],
    },
    status: 204,
  },
  {
    name: 'reading the group without its members',
    method: 'GET',
    path: '/Groups/{group}?excludedAttributes=members',
    status: 200,
    expect: { id: '{group}', displayName: 'Contoso sales' },
  },
  {
    name: 'renaming the group by path',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: {
      schemas: [patchOp],
      Operations: [{ op: 'Replace', path: 'displayName', value: 'Contoso revenue' }],
    },
    status: 204,
  },
  {
    name: 'removing members as a list of values',
    method: 'PATCH',
    path: '/Groups/{group}',
    body: {
      schemas: [patchOp],
      Operations: [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{user}' }] }],
    },
    status: 204,
  },
  {
    name: 'reading the emptied group',
    method: 'GET',
    path: '/Groups/{group}',
    status: 200,
    expect: { displayName: 'Contoso revenue', members: [] },
  },
  {
    name: 'turning the user off with a text',
    method: 'PATCH',
    path: '/Users/{user}',
    body: { schemas: [patchOp], Operations: [{ op: 'Replace', path: 'active', value: 'False' }] },
    status: 200,
    expect: { active: false },
  },
  {
    name: 'turning the user off again after a timeout',
    method: 'PATCH',
    path: '/Users/{user}',
    body: { schemas: [patchOp], Operations: [{ op: 'Replace', path: 'active', value: 'False' }] },
    status: 200,
    expect: { active: false },
  },
  {
    name: 'turning the user on',
    method: 'PATCH',
    path: '/Users/{user}',
    body: { schemas: [patchOp], Operations: [{ op: 'Replace', path: 'active', value: 'True' }] },
    status: 200,
    expect: { active: true },
  },
  { name: 'deleting the user', method: 'DELETE', path: '/Users/{user}', status: 204 },
  { name: 'reading the deleted user', method: 'GET', path: '/Users/{user}', status: 404 },
  { name: 'deleting the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
  {
    name: 'creating the deleted user again',
    method: 'POST',
    path: '/Users',
    body: entraUser,
    status: 201,
    expect: { id: '{user}', active: true },
  },
]
