-- Which artifacts of a project are kept: one policy a project.
create table retention (
  project_id bigint primary key references project on delete cascade,
  -- [{ "template", "count", "tags", "repositories", … }], see retention/rules.ts
  rules jsonb not null,
  schedule text not null check (schedule in ('none', 'hourly', 'daily', 'weekly')),
  next_at timestamptz,
  updated_at timestamptz not null default now()
);
create index on retention (next_at) where next_at is not null;

create table retention_run (
  id bigint generated always as identity primary key,
  project_id bigint not null references project on delete cascade,
  dry_run boolean not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  retained integer not null default 0,
  deleted integer not null default 0,
  -- What went, or would go, and why; the first thousand.
  decisions jsonb not null default '[]',
  failure text
);
create index on retention_run (project_id, id);

create table webhook (
  id bigint generated always as identity primary key,
  project_id bigint not null references project on delete cascade,
  name text not null,
  description text not null default '',
  is_enabled boolean not null default true,
  events text[] not null,
  address text not null,
  -- Sent as Authorization; never shown again.
  auth_header text,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, name)
);

-- What is to be told, written with what it tells of; it outlives every process.
create table webhook_delivery (
  id uuid primary key default gen_random_uuid(),
  webhook_id bigint not null references webhook on delete cascade,
  event text not null,
  payload jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  said text,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index on webhook_delivery (next_at) where state = 'pending';
create index on webhook_delivery (webhook_id, created_at);
create index on webhook_delivery (ended_at) where state <> 'pending';

create table label (
  id bigint generated always as identity primary key,
  -- null: of the whole registry.
  project_id bigint references project on delete cascade,
  name text not null,
  description text not null default '',
  color text not null default '',
  created_at timestamptz not null default now(),
  unique nulls not distinct (project_id, name)
);

create table manifest_label (
  repository_id bigint not null,
  digest text collate "C" not null,
  label_id bigint not null references label on delete cascade,
  primary key (repository_id, digest, label_id),
  foreign key (repository_id, digest) references manifest on delete cascade
);
create index on manifest_label (label_id);
