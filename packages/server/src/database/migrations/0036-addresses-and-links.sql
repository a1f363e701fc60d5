-- Who comes in with a password: the account that its address signs in to, with a password that only its user knows.

alter table users
  -- Whether the password was chosen behind a link that others have seen, too, and no mail has reached the user since.
  add column if not exists password_handed_over boolean not null default false;

-- As before, but that a password opens nothing where the address signs in to an account of another company.
create or replace function can_sign_in(company text, person text) returns boolean
  language sql stable as $$
    select exists (
      select 1 from users as owner where owner.company_id = company and owner.id = person and (
        (owner.password_hash is not null and owner.holds_email
          and (owner.service_account or not requires_single_sign_on(owner.company_id, owner.email)))
        or (offers_single_sign_on(owner.company_id, owner.email) and exists (
          select 1 from sso_identities as identity join sso_configs as config
            on config.company_id = identity.company_id and config.idp_entity_id = identity.idp_entity_id
          where identity.company_id = owner.company_id and identity.user_id = owner.id
        ))
      )
    )
  $$;

-- Users whom their identity provider named while they were invited have the address that is nobody else's.
update users as owner set holds_email = true
  where owner.status = 'active' and not owner.holds_email
    and not is_email_held_elsewhere(owner.company_id, owner.email)
    and not exists (
      select 1 from users as other
      where other.email = owner.email and other.id <> owner.id and other.status = 'active' and not other.holds_email);
