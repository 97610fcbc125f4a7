create table users (
  name text primary key,
  admin boolean not null default false,
  -- Groups that the identity service says, from the last login.
  claimed_groups text[] not null default '{}',
  created timestamptz not null default now(),
  last_activity timestamptz
);

create table groups (
  name text primary key,
  properties jsonb not null default '{}'
);

create table group_members (
  group_name text not null references groups on delete cascade,
  user_name text not null references users on delete cascade,
  primary key (group_name, user_name)
);

-- A login of a person with a browser: the hub's own cookie, and what renews the platform's tokens for their servers.
create table logins (
  id uuid primary key default gen_random_uuid(),
  cookie_hash text not null unique,
  user_name text not null references users on delete cascade,
  sealed_tokens text not null,
  access_expires timestamptz not null,
  created timestamptz not null default now(),
  checked_at timestamptz not null default now(),
  expires timestamptz not null
);
create index logins_by_user on logins (user_name, created desc);

create table servers (
  id uuid primary key default gen_random_uuid(),
  user_name text not null references users on delete cascade,
  name text not null,
  -- First label of its host.
  label text not null unique,
  profile text not null,
  -- The profile as it was when the server started.
  definition jsonb not null,
  options jsonb not null default '{}',
  state text not null check (state in ('stopped', 'starting', 'ready', 'stopping')),
  -- What the spawner needs to find it again.
  handle jsonb,
  -- Where the proxy leads.
  target jsonb,
  token_hash text,
  cores double precision not null default 0,
  memory_bytes bigint not null default 0,
  progress jsonb not null default '[]',
  created timestamptz not null default now(),
  started timestamptz,
  last_activity timestamptz,
  ended timestamptz,
  end_reason text,
  unique (user_name, name)
);
create index servers_by_state on servers (state);
create index servers_by_token on servers (token_hash);

create table tokens (
  id bigint generated always as identity primary key,
  hash text not null unique,
  user_name text references users on delete cascade,
  service_name text,
  -- api: made by a person; server: a server's own; oauth: given to a server for who looks at it.
  kind text not null check (kind in ('api', 'server', 'oauth')),
  server_id uuid references servers on delete cascade,
  login_id uuid references logins on delete cascade,
  client text,
  scopes text[] not null,
  note text not null default '',
  created timestamptz not null default now(),
  last_activity timestamptz,
  expires timestamptz
);

create table oauth_codes (
  hash text primary key,
  client text not null,
  redirect_uri text not null,
  user_name text not null references users on delete cascade,
  server_id uuid not null references servers on delete cascade,
  login_id uuid references logins on delete cascade,
  challenge text,
  scopes text[] not null,
  expires timestamptz not null
);

-- A browser on its way from the hub to the origin of a server.
create table entries (
  hash text primary key,
  server_id uuid not null references servers on delete cascade,
  login_id uuid not null references logins on delete cascade,
  state text not null,
  expires timestamptz not null
);

-- A browser at the origin of a server.
create table visits (
  hash text primary key,
  server_id uuid not null references servers on delete cascade,
  login_id uuid not null references logins on delete cascade,
  user_name text not null references users on delete cascade,
  expires timestamptz not null
);

create table shares (
  id bigint generated always as identity primary key,
  server_id uuid not null references servers on delete cascade,
  to_user text references users on delete cascade,
  to_group text references groups on delete cascade,
  scopes text[] not null,
  created timestamptz not null default now(),
  expires timestamptz,
  check ((to_user is null) <> (to_group is null)),
  unique nulls not distinct (server_id, to_user, to_group)
);

create table messages (
  id bigint generated always as identity primary key,
  text text not null,
  author text not null,
  created timestamptz not null default now(),
  expires timestamptz not null
);

-- Profiles as an administrator wrote them; the newest counts, without one those that the hub brings.
create table profile_files (
  version bigint generated always as identity primary key,
  text text not null,
  author text not null,
  created timestamptz not null default now()
);

create function hub_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('application_hub', tg_table_name);
  return null;
end $$;
create trigger servers_changed after insert or delete or update of state, target, token_hash on servers
  for each statement execute function hub_changed();
create trigger visits_changed after delete on visits for each statement execute function hub_changed();
create trigger shares_changed after insert or update or delete on shares for each statement execute function hub_changed();
create trigger members_changed after insert or delete on group_members for each statement execute function hub_changed();
