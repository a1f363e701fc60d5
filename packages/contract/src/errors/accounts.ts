import { Type } from 'typebox'
import { conflict, forbidden, invalid, limitOf, notFound, row, tooMany } from '../error-row.ts'
import {
  anId,
  ByDomain,
  ByEmail,
  ByName,
  ByReason,
  ByRoles,
  ByTeams,
  ByUsers,
  Nothing,
} from '../failure-data.ts'
import { like, object } from '../resources/formats.ts'

const UnusableMetadata = object({ reason: like('it holds no certificate to verify signatures with') })
const DomainNotVerified = object({
  domain: like('example.com'),
  recordName: like('_millrace-challenge.example.com'),
  recordValue: like('millrace-domain-verification=Vd7p0m9S3m0c1Yw6u0F8'),
  reason: like('there is no such record'),
})
const TooManyDomains = object({ most: Type.Number({ examples: [50] }) })
const RoleInUse = object({
  id: anId,
  users: Type.Integer({ description: 'How many users have it', examples: [3] }),
  settings: Type.Array(like('the default role of the company')),
})
const PermissionAboveOwn = object({ permissions: Type.Array(like('user:delete'), { minItems: 1 }) })
const TeamInUse = object({
  id: anId,
  children: Type.Integer({ description: 'Teams right below it', examples: [1] }),
  resources: Type.Integer({ description: 'Resources that belong to it', examples: [4] }),
})
const SingleSignOnRefused = object({ reference: anId })

/** Accounts, single sign-on and provisioning: codes 2020 to 2999. */
export const accountErrors = {
  userNotFound: notFound(2020, 'There is no such user in your company', ByEmail),
  passwordNotUsed: conflict(2021, 'This user signs in through single sign-on only', ByEmail),
  tooManyPasswordResets: tooMany(2022, 'A reset was asked for too often, try again later'),
  lastAdministrator: conflict(
    2023,
    'The company would have no administrator: first assign another user a role that may update users, roles and the company',
    Nothing,
  ),
  userNotActive: conflict(2024, 'This user is not active', ByEmail),
  userAboveOwn: forbidden(2025, 'The role of this user allows more than your own'),
  emailTaken: conflict(2026, 'There is a user with this address already; choose another address', ByEmail),
  invitationNotFound: notFound(2027, 'There is no such invitation in your company'),
  unknownUser: invalid(2028, 'There is no such user in your company', ByUsers),
  invalidLink: invalid(
    2029,
    'This link is no longer valid: it was used, replaced by a newer one, or is too old',
  ),
  linkedAccountNotFound: notFound(2030, 'There is no such linked account'),
  linkedAccountAddress: invalid(2031, 'This address cannot be linked', ByReason),
  linkedAccountTest: invalid(2032, 'The test message was not taken, so nothing was linked', ByReason),
  tooManyLinkedAccounts: conflict(
    2033,
    'You have the most linked accounts that are possible: delete one first',
    limitOf(20),
  ),
  singleSignOnNotFound: notFound(2040, 'Your company has no single sign-on configuration', Nothing),
  unusableMetadata: invalid(2041, 'The metadata of the identity provider cannot be used', UnusableMetadata),
  singleSignOnNotProven: conflict(
    2042,
    'Single sign-on cannot be required yet: verify a domain, then sign in once through the identity provider as it is configured now',
    Nothing,
  ),
  domainNotFound: notFound(2043, 'Your company has no such domain'),
  domainTaken: conflict(2044, 'This domain belongs to a company already', ByDomain),
  domainNotVerified: conflict(
    2045,
    'The TXT record that shows the domain is yours was not found',
    DomainNotVerified,
  ),
  tooManyDomains: conflict(
    2046,
    'Your company has as many domains as it may have: remove one first',
    TooManyDomains,
  ),
  certificateNotFound: notFound(2047, 'Your company has no such certificate'),
  certificateInUse: conflict(2048, 'This is the only certificate: make another one first'),
  tooManyCertificates: conflict(
    2049,
    'There are two certificates already: retire the older one first',
    Nothing,
  ),
  unknownRole: invalid(2050, 'There is no such role in your company', ByRoles),
  roleAboveOwn: forbidden(2051, 'You cannot give a role that allows more than your own', ByRoles),
  unknownTeam: invalid(2052, 'There is no such team in your company', ByTeams),
  notInTeam: forbidden(2053, 'You are not a member of this team', ByTeams),
  roleNotFound: notFound(2054, 'There is no such role in your company'),
  roleNameTaken: conflict(2055, 'Your company has a role with this name already', ByName),
  builtInRole: conflict(2056, 'A built-in role cannot be changed or deleted; make a role of your own'),
  roleInUse: conflict(2057, 'This role is in use; give its users another role first', RoleInUse),
  permissionAboveOwn: forbidden(
    2058,
    'You cannot give or take a permission that you do not have',
    PermissionAboveOwn,
  ),
  tooManyScimTokens: conflict(2060, 'Two tokens are active already: revoke one of them first', Nothing),
  scimTokenNotFound: notFound(2061, 'There is no such token of the identity provider'),
  groupSyncOff: row(501)(
    2062,
    'Groups are not synchronised: turn groupSync on in the provisioning configuration',
    Nothing,
  ),
  userIdNotFound: notFound(2070, 'There is no such user in your company'),
  teamNotFound: notFound(2071, 'There is no such team in your company'),
  teamNameTaken: conflict(2072, 'Your company has a team with this name already', ByName),
  teamCycle: conflict(
    2073,
    'A team cannot be below itself: a team named as its parent is the team or stands below it',
    ByTeams,
  ),
  teamInUse: conflict(
    2074,
    'This team has teams below it or resources; move or delete them first',
    TeamInUse,
  ),
  defaultTeam: conflict(
    2075,
    'The default team takes the users who are put into no other; choose another one in the settings of the company (`defaultTeamId`), then delete this one',
  ),
  memberWithoutTeam: conflict(
    2076,
    'A user would be in no team at all; add the user to another team first',
    ByUsers,
  ),
  wrongPassword: forbidden(2077, 'The present password is wrong', Nothing),
  provisionedTeam: conflict(
    2078,
    'The identity provider manages this team: change its name and members there',
    ByTeams,
  ),
  tooManyInvitations: tooMany(2079, 'Too many invitations were mailed, try again later'),
  singleSignOnNotOffered: notFound(2090, 'There is no single sign-on here', Nothing),
  singleSignOnRefused: forbidden(
    2091,
    'Signing in has failed; your administrator finds the reason in the audit log',
    SingleSignOnRefused,
  ),
  missingSamlResponse: invalid(2092, 'The form must hold the field SAMLResponse once'),
  tooManySamlResponses: tooMany(2093, 'Too many sign-ins come from this address at once, try again shortly'),
  singleSignOnLinkNotFound: notFound(
    2094,
    'This user is not linked to the identity provider: there is nothing to unlink',
  ),
  companyNotConfirmed: conflict(
    2095,
    'Everything of the company will be removed: send its name as `confirm`',
    object({ id: anId, confirm: like('Acme') }),
  ),
}
