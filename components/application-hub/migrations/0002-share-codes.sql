-- Links that let whoever has one, and is logged in, into a server. The code itself is not kept.
create table share_codes (
  id bigint generated always as identity primary key,
  hash text not null unique,
  server_id uuid not null references servers on delete cascade,
  scopes text[] not null,
  created timestamptz not null default now(),
  exchanged integer not null default 0,
  last_exchanged timestamptz,
  expires timestamptz not null
);
create index share_codes_by_server on share_codes (server_id);

-- Why ~/workspace and the bucket are not the same now; null while they are.
alter table servers add column workspace_trouble text;
