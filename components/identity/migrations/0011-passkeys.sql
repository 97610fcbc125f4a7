-- Passkeys of users (Web Authentication): public keys of authenticators, found by the id that the authenticator gives.
create table passkey (
  id uuid primary key default gen_random_uuid(),
  realm_id uuid not null references realm on delete cascade,
  user_id uuid not null references app_user on delete cascade,
  credential_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null default '{}',
  label text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  unique (realm_id, credential_id)
);
create index passkey_user on passkey (user_id);
