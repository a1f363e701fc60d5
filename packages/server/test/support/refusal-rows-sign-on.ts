import { requireByRows } from './mandatory-domain.ts'
import { wholeConfig } from './permission-rows-sign-on.ts'
import type { PermissionWorld, Person, Rights } from './permission-world.ts'
import { type MakeRefused, nobody, type RefusalRows, refused, unusedName } from './refusal-row.ts'

const config = '/v2/entities/sso/config'
const domains = '/v2/entities/sso/domains'
const certificates = '/v2/entities/sso/certificates'
const scimConfig = '/v2/entities/scim/config'
const scimTokens = '/v2/entities/scim/tokens'

interface Made {
  readonly id: string
}

/** A configuration, and how it stands afterwards. */
async function configure(
  { make, relational }: PermissionWorld,
  { token, companyId }: Person,
  isProven = false,
) {
  await make('PUT', config, await wholeConfig({}), token)
  if (isProven)
    await relational.pool.query('update sso_configs set proven_at = now() where company_id = $1', [companyId])
}

async function addDomain({ make }: PermissionWorld, { token }: Person, domain: string): Promise<string> {
  return (await make<Made>('POST', domains, { domain }, token)).id
}

async function newTeam({ make, relational }: PermissionWorld, { token }: Person, isProvisioned: boolean) {
  const { id } = await make<Made>('POST', '/v2/entities/teams', { name: unusedName() }, token)
  if (isProvisioned) await relational.pool.query('update teams set provisioned = true where id = $1', [id])
  return id
}

/** Everybody in the company may do as much as the caller, who may change no teams. */
const withoutTeams: Rights = { without: { resource: 'team', action: 'update' } }

/** What saving a configuration refuses, whole or in part. */
function saving(isWhole: boolean): Readonly<Record<string, MakeRefused>> {
  const save = (
    fields: (founder: Person, world: PermissionWorld) => Promise<object> | object,
    rights?: Rights,
  ) =>
    refused(async (founder, world) => {
      if (!isWhole) await configure(world, founder)
      const body = await fields(founder, world)
      return { path: config, body: isWhole ? await wholeConfig(body) : body }
    }, rights)
  return {
    unusableMetadata: save(() => ({ idpMetadataXml: '<EntityDescriptor/>' })),
    singleSignOnNotProven: save(() => ({ mandatory: true })),
    lastAdministrator: save(async (founder, world) => {
      await configure(world, founder, true)
      const id = await addDomain(world, founder, `${founder.companyId}.example`)
      await world.relational.pool.query('update sso_domains set verified_at = now() where id = $1', [id])
      return { mandatory: true }
    }),
    unknownRole: save(() => ({ defaultRoleId: nobody })),
    unknownTeam: save((_founder, { teams }) => ({ defaultTeamIds: [teams.default] })),
    notInTeam: save(
      async (founder, world) => ({ defaultTeamIds: [await newTeam(world, founder, false)] }),
      withoutTeams,
    ),
    provisionedTeam: save(async (founder, world) => ({
      defaultTeamIds: [await newTeam(world, founder, true)],
    })),
  }
}

/** Single sign-on and provisioning of a company. */
export const signOnRefusals: RefusalRows = {
  replaceSingleSignOn: saving(true),
  updateSingleSignOn: saving(false),

  addSingleSignOnDomain: {
    domainTaken: refused(async (_founder, world) => {
      const domain = `${crypto.randomUUID()}.example`
      await requireByRows(world.relational, (await world.founder()).companyId, domain)
      return { path: domains, body: { domain } }
    }),
    tooManyDomains: refused(async (founder, world) => {
      for (let i = 0; i < 50; i++) await addDomain(world, founder, `${crypto.randomUUID()}.example`)
      return { path: domains, body: { domain: 'one-more.example' } }
    }),
  },
  verifySingleSignOnDomain: {
    domainTaken: 'two companies may claim a domain; the first that shows it has it',
    domainNotVerified: refused(async (founder, world) => ({
      path: `${domains}/${await addDomain(world, founder, `${crypto.randomUUID()}.invalid`)}/verify`,
    })),
  },

  rotateSingleSignOnCertificate: {
    tooManyCertificates: refused(async (founder, world) => {
      await configure(world, founder)
      await world.make('POST', certificates, undefined, founder.token)
      return { path: certificates }
    }),
  },
  retireSingleSignOnCertificate: {
    certificateInUse: refused(async (founder, world) => {
      await configure(world, founder)
      const [only] = await world.make<Made[]>('GET', certificates, undefined, founder.token)
      return { path: `${certificates}/${only?.id}` }
    }),
  },

  updateScimConfig: {
    unknownRole: refused(() => ({ path: scimConfig, body: { defaultRoleId: nobody } })),
    lastAdministrator: refused(async ({ userId }, { relational }) => {
      await relational.pool.query('update users set provisioned = true where id = $1', [userId])
      return { path: scimConfig, body: { roleSource: 'groups' } }
    }),
  },
  createScimToken: {
    tooManyScimTokens: refused(async ({ token }, { make }) => {
      for (const label of ['First', 'Second']) await make('POST', scimTokens, { label }, token)
      return { path: scimTokens, body: { label: 'Third' } }
    }),
  },
}
