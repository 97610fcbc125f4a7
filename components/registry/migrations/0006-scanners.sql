-- Scanners that speak the pluggable scanner API, and what they found.
create table scanner (
  id bigint generated always as identity primary key,
  name text not null unique,
  description text not null default '',
  url text not null,
  auth text not null check (auth in ('', 'Basic', 'Bearer', 'X-ScannerAdapter-API-Key')),
  -- Sealed with a key of the deployment for this URL alone.
  sealed_credential text,
  is_disabled boolean not null default false,
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index on scanner (is_default) where is_default;

alter table project add column scanner_id bigint references scanner on delete set null;

-- The latest scan of an artifact.
create table scan (
  repository_id bigint not null,
  digest text collate "C" not null,
  scanner_id bigint not null references scanner on delete cascade,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'succeeded', 'failed')),
  -- What the scanner calls it.
  request text,
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  requested_by text not null,
  requested_at timestamptz not null default now(),
  ended_at timestamptz,
  failure text,
  scanner text,
  severity text,
  -- Vulnerabilities by severity.
  summary jsonb,
  report jsonb,
  primary key (repository_id, digest),
  foreign key (repository_id, digest) references manifest on delete cascade
);
create index on scan (next_at) where state in ('waiting', 'running');
