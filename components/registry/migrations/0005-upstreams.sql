-- Registries of others: what projects are caches of, and where replication goes.
create table upstream (
  id bigint generated always as identity primary key,
  name text not null unique,
  description text not null default '',
  kind text not null check (kind in ('docker-hub', 'docker-registry')),
  url text not null,
  username text,
  -- Sealed with a key of the deployment for this URL alone.
  sealed_secret text,
  -- It said that too much was asked; nothing that counts is asked of it until then.
  paused_until timestamptz,
  -- What it said last of its limits, and when it last answered or failed.
  rate_limit text,
  rate_remaining text,
  answered_at timestamptz,
  failed_at timestamptz,
  failure text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

alter table project add column upstream_id bigint references upstream;
create index on project (upstream_id) where upstream_id is not null;
-- Of a project that is a cache; looked up with every pull.
alter table repository add column is_cache boolean not null default false;

-- What a tag was at its upstream when that was asked last.
create table cached_tag (
  repository_id bigint not null references repository on delete cascade,
  name text collate "C" not null,
  digest text collate "C" not null,
  checked_at timestamptz not null default now(),
  primary key (repository_id, name)
);

-- Manifests that clients have got while their content is still on its way: a manifest proper never lacks a blob.
create table arriving_manifest (
  repository_id bigint not null references repository on delete cascade,
  digest text collate "C" not null,
  media_type text not null,
  content bytea not null,
  attempts integer not null default 0,
  next_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (repository_id, digest)
);
create index on arriving_manifest (next_at);

create table replication (
  id bigint generated always as identity primary key,
  name text not null unique,
  description text not null default '',
  direction text not null check (direction in ('pull', 'push')),
  upstream_id bigint not null references upstream,
  -- Patterns of repositories and tags at the source.
  repositories text not null,
  tags text not null,
  -- A project here for a pull; a namespace there for a push, where '' keeps the names.
  target text not null,
  -- Tags that are other at the target are moved.
  overrides boolean not null default true,
  is_enabled boolean not null default true,
  schedule text not null check (schedule in ('none', 'hourly', 'daily', 'weekly')),
  next_at timestamptz,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on replication (next_at) where next_at is not null;

create table replication_run (
  id bigint generated always as identity primary key,
  replication_id bigint not null references replication on delete cascade,
  reason text not null check (reason in ('manual', 'scheduled')),
  actor text not null,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'succeeded', 'failed', 'stopped')),
  failure text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  -- Which process works on it, and until when it is believed without hearing from it.
  worker text,
  leased_until timestamptz
);
create index on replication_run (id) where state in ('waiting', 'running');
create index on replication_run (replication_id, id);

create table replication_task (
  run_id bigint not null references replication_run on delete cascade,
  position integer not null,
  -- At the source, with its tag, and at the target.
  source text not null,
  tag text not null,
  target text not null,
  state text not null default 'waiting' check (state in ('waiting', 'succeeded', 'skipped', 'failed')),
  bytes bigint not null default 0,
  said text,
  ended_at timestamptz,
  primary key (run_id, position)
);
