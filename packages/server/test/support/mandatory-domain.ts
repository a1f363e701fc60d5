import { newId } from '../../src/platform/ids.ts'
import type { Relational } from '../../src/platform/stores/relational.ts'

/**
 * From now on people of the company with addresses of this domain must use single sign-on: the rows of a verified
 * domain and a proven configuration, whose identity provider nobody ever asks.
 */
export async function requireByRows(
  { pool }: Pick<Relational, 'pool'>,
  companyId: string,
  domain: string,
): Promise<void> {
  await pool.query(
    `insert into sso_configs (company_id, version, metadata_xml, idp_entity_id, idp_sign_in_url, idp_certificates,
       attribute_mapping, provisioning, mandatory, proven_at)
     values ($1, $2, '<x/>', 'https://idp.example', 'https://idp.example/sign-in', array['none'],
       '{"email":"nameId"}', 'invitation', true, now())
     on conflict (company_id) do nothing`,
    [companyId, newId()],
  )
  await pool.query(
    `insert into sso_domains (id, company_id, domain, challenge, verified_at) values ($1, $2, $3, 'c', now())`,
    [newId(), companyId, domain],
  )
}

/** Links a user to the identity provider of `requireByRows`. */
export async function linkByRows({ pool }: Pick<Relational, 'pool'>, userId: string): Promise<void> {
  await pool.query(
    `insert into sso_identities (company_id, idp_entity_id, name_id, user_id)
     select company_id, 'https://idp.example', 'name of ' || id, id from users where id = $1`,
    [userId],
  )
}
