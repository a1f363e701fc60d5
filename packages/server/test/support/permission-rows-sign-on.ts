import { makeKey } from './identity-provider.ts'
import { nothing, only, type PermissionRows } from './permission-row.ts'
import type { PermissionWorld, Rights } from './permission-world.ts'

const config = '/v2/entities/sso/config'
const domains = '/v2/entities/sso/domains'
const certificates = '/v2/entities/sso/certificates'
const scimConfig = '/v2/entities/scim/config'
const scimTokens = '/v2/entities/scim/tokens'

const key = makeKey()

async function metadata(): Promise<string> {
  const certificate = (await key).certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '')
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example/metadata">
  <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <KeyDescriptor use="signing">
      <KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#">
        <X509Data><X509Certificate>${certificate}</X509Certificate></X509Data>
      </KeyInfo>
    </KeyDescriptor>
    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/in"/>
  </IDPSSODescriptor>
</EntityDescriptor>`
}

/** Everything that a configuration of single sign-on needs. */
export const wholeConfig = async (fields: object) => ({
  idpMetadataXml: await metadata(),
  attributeMapping: { email: 'attributes.email' },
  ...fields,
})

/** The first company has single sign-on; people whom it creates get a role of these rights. */
async function setUp({ make, addRole }: PermissionWorld, rights: Rights = nothing): Promise<void> {
  await make('PUT', config, await wholeConfig({ defaultRoleId: await addRole(rights) }))
}

async function addDomain({ make }: PermissionWorld): Promise<string> {
  const domain = `${crypto.randomUUID()}.example`
  return (await make<{ id: string }>('POST', domains, { domain })).id
}

type Listed = { id: string }[]

/** Deletes what the first company has of a kind until there are so many at the most. */
async function leave({ make }: PermissionWorld, url: string, most: number): Promise<void> {
  const listed = await make<Listed>('GET', url)
  for (const { id } of listed.slice(most)) await make('DELETE', `${url}/${id}`)
}

/** The older of two certificates. */
async function oldCertificate({ make }: PermissionWorld): Promise<string> {
  const listed = await make<Listed>('GET', certificates)
  for (let count = listed.length; count < 2; count++)
    listed.push(await make<{ id: string }>('POST', certificates))
  return listed[0]?.id ?? ''
}

/** Single sign-on and provisioning of a company. */
const newScimToken = async (world: PermissionWorld) => {
  await leave(world, scimTokens, 1)
  return { path: scimTokens, body: { label: 'Directory' } }
}

export const signOnRows: PermissionRows = {
  readSingleSignOn: {
    needs: 'company read',
    call: async (world) => {
      await setUp(world)
      return { path: config }
    },
    // The other company has none.
    stranger: 404,
  },

  replaceSingleSignOn: {
    needs: 'company update',
    // Who is believed decides who comes in as an administrator.
    alone: 403,
    call: async ({ addRole }) => ({
      path: config,
      body: await wholeConfig({ defaultRoleId: await addRole(nothing) }),
    }),
    // The role that the body names is unknown in another company.
    stranger: 400,
    further: [
      {
        says: 'refuses a role that allows more than the caller’s',
        rights: only('company update'),
        call: async ({ addRole }) => ({
          path: config,
          body: await wholeConfig({ defaultRoleId: await addRole(only('user read')) }),
        }),
        refusal: 'roleAboveOwn',
      },
      {
        says: 'refuses to create people with a role of the company that allows more than the caller’s',
        rights: only('company update'),
        call: async ({ make, addRole }) => {
          await make('PATCH', '/v2/entities/company', { defaultRoleId: await addRole(only('user read')) })
          return { path: config, body: await wholeConfig({ provisioning: 'create' }) }
        },
        refusal: 'roleAboveOwn',
      },
    ],
  },

  updateSingleSignOn: {
    needs: 'company update',
    // Who is believed decides who comes in as an administrator.
    alone: 403,
    call: async (world) => {
      await setUp(world)
      return { path: config, body: { attributeMapping: { email: 'nameId' } } }
    },
    stranger: 404,
    further: [
      {
        says: 'refuses a role that allows more than the caller’s',
        rights: only('company update'),
        call: async (world) => {
          await setUp(world)
          return { path: config, body: { defaultRoleId: await world.addRole(only('user read')) } }
        },
        refusal: 'roleAboveOwn',
      },
      {
        says: 'refuses to create people with a role, given before, that allows more than the caller’s',
        rights: only('company update'),
        call: async (world) => {
          await setUp(world, only('user read'))
          return { path: config, body: { provisioning: 'create' } }
        },
        refusal: 'roleAboveOwn',
      },
    ],
  },

  deleteSingleSignOn: {
    needs: 'company update',
    call: async (world) => {
      await setUp(world)
      return { path: config }
    },
    stranger: 404,
  },

  listSingleSignOnDomains: { needs: 'company read', call: () => ({ path: domains }), stranger: 200 },

  addSingleSignOnDomain: {
    needs: 'company update',
    call: () => ({ path: domains, body: { domain: `${crypto.randomUUID()}.example` } }),
    stranger: 200,
  },

  verifySingleSignOnDomain: {
    needs: 'company update',
    call: async (world) => {
      const id = await addDomain(world)
      // No name server is asked about one that is verified already.
      await world.relational.pool.query('update sso_domains set verified_at = now() where id = $1', [id])
      return { path: `${domains}/${id}/verify` }
    },
    stranger: 404,
  },

  removeSingleSignOnDomain: {
    needs: 'company update',
    call: async (world) => ({ path: `${domains}/${await addDomain(world)}` }),
    stranger: 404,
  },

  listSingleSignOnCertificates: {
    needs: 'company read',
    call: () => ({ path: certificates }),
    stranger: 200,
  },

  rotateSingleSignOnCertificate: {
    needs: 'company update',
    call: async (world) => {
      await leave(world, certificates, 1)
      return { path: certificates }
    },
    stranger: 200,
  },

  retireSingleSignOnCertificate: {
    needs: 'company update',
    call: async (world) => ({ path: `${certificates}/${await oldCertificate(world)}` }),
    stranger: 404,
  },

  readScimConfig: { needs: 'company read', call: () => ({ path: scimConfig }), stranger: 200 },

  updateScimConfig: {
    needs: 'company update',
    call: async ({ addRole }) => ({ path: scimConfig, body: { defaultRoleId: await addRole(nothing) } }),
    // The role that the body names is unknown in another company.
    stranger: 400,
    further: [
      {
        says: 'refuses a default role that allows more than the caller’s',
        rights: only('company update'),
        call: async ({ addRole }) => ({
          path: scimConfig,
          body: { defaultRoleId: await addRole(only('user read')) },
        }),
        refusal: 'roleAboveOwn',
      },
      {
        says: 'refuses a group’s role that allows more than the caller’s',
        rights: only('company update'),
        call: async ({ addRole }) => ({
          path: scimConfig,
          body: { roleMapping: [{ group: 'Everybody', roleId: await addRole(only('user read')) }] },
        }),
        refusal: 'roleAboveOwn',
      },
    ],
  },

  listScimTokens: { needs: 'company read', call: () => ({ path: scimTokens }), stranger: 200 },

  createScimToken: {
    needs: 'company update',
    // The holder of a token decides about every user.
    alone: 403,
    call: newScimToken,
    stranger: 200,
    further: [
      {
        says: 'refuses a user who may do less than others of the company',
        rights: only('company read', 'company update', 'user update'),
        call: newScimToken,
        refusal: 'roleAboveOwn',
      },
    ],
  },

  deleteScimToken: {
    needs: 'company update',
    call: async (world) => {
      await leave(world, scimTokens, 1)
      const { id } = await world.make<{ id: string }>('POST', scimTokens, { label: 'Directory' })
      return { path: `${scimTokens}/${id}` }
    },
    stranger: 404,
  },
}
