-- What users keep in their profile (variant B): licences, API keys of services elsewhere, storage.
create table profile_entry (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references app_user on delete cascade,
  kind text not null check (kind in ('license', 'api', 'storage')),
  fields jsonb not null,
  created_at timestamptz not null default now()
);
create index profile_entry_user on profile_entry (user_id, kind);

-- Messages that ask whether an address is a user's own. Of the token in the message its hash is kept.
create table email_confirmation (
  token_hash text primary key,
  user_id uuid not null references app_user on delete cascade,
  email text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index email_confirmation_user on email_confirmation (user_id);

-- Accounts that their users asked to remove; until then they may think again.
create table account_removal (
  user_id uuid primary key references app_user on delete cascade,
  due_at timestamptz not null
);

-- Messages of a deployment that has no mail server.
create table captured_mail (
  id bigint generated always as identity primary key,
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null default now()
);
