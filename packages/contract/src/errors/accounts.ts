import { Type } from 'typebox'
import type { ErrorRow } from '../error-row.ts'
import {
  anId,
  ByDomain,
  ByEmail,
  ById,
  ByName,
  ByReason,
  ByRoles,
  ByTeams,
  ByUsers,
  Nothing,
  Retry,
} from '../failure-data.ts'
import { strict } from '../resources/formats.ts'

/** Accounts, single sign-on and provisioning: codes 2020 to 2999. */
export const accountErrors = {
  userNotFound: {
    errorCode: 2020,
    status: 404,
    message: 'There is no such user in your company',
    data: ByEmail,
  },
  passwordNotUsed: {
    errorCode: 2021,
    status: 409,
    message: 'This user signs in through single sign-on only',
    data: ByEmail,
  },
  tooManyPasswordResets: {
    errorCode: 2022,
    status: 429,
    message: 'A reset was asked for too often, try again later',
    data: Retry,
  },
  lastAdministrator: {
    errorCode: 2023,
    status: 409,
    message:
      'The company would have no administrator: first assign another user a role that may update users, roles and the company',
    data: Nothing,
  },
  userNotActive: {
    errorCode: 2024,
    status: 409,
    message: 'This user is not active',
    data: ByEmail,
  },
  userAboveOwn: {
    errorCode: 2025,
    status: 403,
    message: 'The role of this user allows more than your own',
    data: ById,
  },
  emailTaken: {
    errorCode: 2026,
    status: 409,
    message: 'There is a user with this address already; choose another address',
    data: ByEmail,
  },
  invitationNotFound: {
    errorCode: 2027,
    status: 404,
    message: 'There is no such invitation in your company',
    data: ById,
  },
  unknownUser: {
    errorCode: 2028,
    status: 400,
    message: 'There is no such user in your company',
    data: ByUsers,
  },
  invalidLink: {
    errorCode: 2029,
    status: 400,
    message: 'This link is no longer valid: it was used, replaced by a newer one, or is too old',
    data: Nothing,
  },
  linkedAccountNotFound: {
    errorCode: 2030,
    status: 404,
    message: 'There is no such linked account',
    data: ById,
  },
  linkedAccountAddress: {
    errorCode: 2031,
    status: 400,
    message: 'This address cannot be linked',
    data: ByReason,
  },
  linkedAccountTest: {
    errorCode: 2032,
    status: 400,
    message: 'The test message was not taken, so nothing was linked',
    data: ByReason,
  },
  tooManyLinkedAccounts: {
    errorCode: 2033,
    status: 409,
    message: 'You have the most linked accounts that are possible: delete one first',
    data: Type.Object({ limit: Type.Integer({ examples: [20] }) }, strict),
  },
  singleSignOnNotFound: {
    errorCode: 2040,
    status: 404,
    message: 'Your company has no single sign-on configuration',
    data: Nothing,
  },
  unusableMetadata: {
    errorCode: 2041,
    status: 400,
    message: 'The metadata of the identity provider cannot be used',
    data: Type.Object(
      { reason: Type.String({ examples: ['it holds no certificate to verify signatures with'] }) },
      strict,
    ),
  },
  singleSignOnNotProven: {
    errorCode: 2042,
    status: 409,
    message:
      'Single sign-on cannot be required yet: verify a domain, then sign in once through the identity provider as it is configured now',
    data: Nothing,
  },
  domainNotFound: {
    errorCode: 2043,
    status: 404,
    message: 'Your company has no such domain',
    data: ById,
  },
  domainTaken: {
    errorCode: 2044,
    status: 409,
    message: 'This domain belongs to a company already',
    data: ByDomain,
  },
  domainNotVerified: {
    errorCode: 2045,
    status: 409,
    message: 'The TXT record that shows the domain is yours was not found',
    data: Type.Object(
      {
        domain: Type.String({ examples: ['example.com'] }),
        recordName: Type.String({ examples: ['_millrace-challenge.example.com'] }),
        recordValue: Type.String({ examples: ['millrace-domain-verification=Vd7p0m9S3m0c1Yw6u0F8'] }),
        reason: Type.String({ examples: ['there is no such record'] }),
      },
      strict,
    ),
  },
  tooManyDomains: {
    errorCode: 2046,
    status: 409,
    message: 'Your company has as many domains as it may have: remove one first',
    data: Type.Object({ most: Type.Number({ examples: [50] }) }, strict),
  },
  certificateNotFound: {
    errorCode: 2047,
    status: 404,
    message: 'Your company has no such certificate',
    data: ById,
  },
  certificateInUse: {
    errorCode: 2048,
    status: 409,
    message: 'This is the only certificate: make another one first',
    data: ById,
  },
  tooManyCertificates: {
    errorCode: 2049,
    status: 409,
    message: 'There are two certificates already: retire the older one first',
    data: Nothing,
  },
  unknownRole: {
    errorCode: 2050,
    status: 400,
    message: 'There is no such role in your company',
    data: ByRoles,
  },
  roleAboveOwn: {
    errorCode: 2051,
    status: 403,
    message: 'You cannot give a role that allows more than your own',
    data: ByRoles,
  },
  unknownTeam: {
    errorCode: 2052,
    status: 400,
    message: 'There is no such team in your company',
    data: ByTeams,
  },
  notInTeam: {
    errorCode: 2053,
    status: 403,
    message: 'You are not a member of this team',
    data: ByTeams,
  },
  roleNotFound: {
    errorCode: 2054,
    status: 404,
    message: 'There is no such role in your company',
    data: ById,
  },
  roleNameTaken: {
    errorCode: 2055,
    status: 409,
    message: 'Your company has a role with this name already',
    data: ByName,
  },
  builtInRole: {
    errorCode: 2056,
    status: 409,
    message: 'A built-in role cannot be changed or deleted; make a role of your own',
    data: ById,
  },
  roleInUse: {
    errorCode: 2057,
    status: 409,
    message: 'This role is in use; give its users another role first',
    data: Type.Object(
      {
        id: anId,
        users: Type.Integer({ description: 'How many users have it', examples: [3] }),
        settings: Type.Array(Type.String({ examples: ['the default role of the company'] })),
      },
      strict,
    ),
  },
  permissionAboveOwn: {
    errorCode: 2058,
    status: 403,
    message: 'You cannot give or take a permission that you do not have',
    data: Type.Object(
      { permissions: Type.Array(Type.String({ examples: ['user:delete'] }), { minItems: 1 }) },
      strict,
    ),
  },
  tooManyScimTokens: {
    errorCode: 2060,
    status: 409,
    message: 'Two tokens are active already: revoke one of them first',
    data: Nothing,
  },
  scimTokenNotFound: {
    errorCode: 2061,
    status: 404,
    message: 'There is no such token of the identity provider',
    data: ById,
  },
  groupSyncOff: {
    errorCode: 2062,
    status: 501,
    message: 'Groups are not synchronised: turn groupSync on in the provisioning configuration',
    data: Nothing,
  },
  userIdNotFound: {
    errorCode: 2070,
    status: 404,
    message: 'There is no such user in your company',
    data: ById,
  },
  teamNotFound: {
    errorCode: 2071,
    status: 404,
    message: 'There is no such team in your company',
    data: ById,
  },
  teamNameTaken: {
    errorCode: 2072,
    status: 409,
    message: 'Your company has a team with this name already',
    data: ByName,
  },
  teamCycle: {
    errorCode: 2073,
    status: 409,
    message: 'A team cannot be below itself: a team named as its parent is the team or stands below it',
    data: ByTeams,
  },
  teamInUse: {
    errorCode: 2074,
    status: 409,
    message: 'This team has teams below it or resources; move or delete them first',
    data: Type.Object(
      {
        id: anId,
        children: Type.Integer({ description: 'Teams right below it', examples: [1] }),
        resources: Type.Integer({ description: 'Resources that belong to it', examples: [4] }),
      },
      strict,
    ),
  },
  defaultTeam: {
    errorCode: 2075,
    status: 409,
    message:
      'The default team takes the users who are put into no other; choose another one in the settings of the company (`defaultTeamId`), then delete this one',
    data: ById,
  },
  memberWithoutTeam: {
    errorCode: 2076,
    status: 409,
    message: 'A user would be in no team at all; add the user to another team first',
    data: ByUsers,
  },
  wrongPassword: {
    errorCode: 2077,
    status: 403,
    message: 'The present password is wrong',
    data: Nothing,
  },
  provisionedTeam: {
    errorCode: 2078,
    status: 409,
    message: 'The identity provider manages this team: change its name and members there',
    data: ByTeams,
  },
  tooManyInvitations: {
    errorCode: 2079,
    status: 429,
    message: 'Too many invitations were mailed, try again later',
    data: Retry,
  },
  singleSignOnNotOffered: {
    errorCode: 2090,
    status: 404,
    message: 'There is no single sign-on here',
    data: Nothing,
  },
  singleSignOnRefused: {
    errorCode: 2091,
    status: 403,
    message: 'Signing in has failed; your administrator finds the reason in the audit log',
    data: Type.Object({ reference: anId }, strict),
  },
  missingSamlResponse: {
    errorCode: 2092,
    status: 400,
    message: 'The form must hold the field SAMLResponse once',
    data: Nothing,
  },
  tooManySamlResponses: {
    errorCode: 2093,
    status: 429,
    message: 'Too many sign-ins come from this address at once, try again shortly',
    data: Retry,
  },
  singleSignOnLinkNotFound: {
    errorCode: 2094,
    status: 404,
    message: 'This user is not linked to the identity provider: there is nothing to unlink',
    data: ById,
  },
} as const satisfies Record<string, ErrorRow>
