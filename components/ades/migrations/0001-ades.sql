create table process (
  owner text not null,
  id text not null,
  version integer not null,
  -- The package as it was given, and where it came from.
  package text not null,
  reference text not null,
  description jsonb not null,
  deployed_at timestamptz not null default now(),
  -- Replaced or undeployed: kept for the jobs that run it.
  current boolean not null default true,
  primary key (owner, id, version)
);
create unique index process_current on process (owner, id) where current;

create table job (
  id uuid primary key default gen_random_uuid(),
  owner text not null,
  process_id text not null,
  process_version integer not null,
  status text not null check (status in ('accepted', 'running', 'successful', 'failed', 'dismissed')),
  message text,
  progress integer not null default 0,
  -- What was asked for: {inputs, response, subscriber}.
  request jsonb not null,
  -- What came of it: {outputs} or {collection, catalogUri}.
  result jsonb,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null default now(),
  attempts integer not null default 0,
  lease_until timestamptz
);
create index job_owner on job (owner, created_at desc, id);
create index job_queue on job (created_at) where status in ('accepted', 'running');

create table job_step (
  job uuid not null references job on delete cascade,
  name text not null,
  status text not null,
  exit_code integer,
  message text,
  started_at timestamptz,
  finished_at timestamptz,
  primary key (job, name)
);

create table job_log (
  id bigint generated always as identity primary key,
  job uuid not null references job on delete cascade,
  at timestamptz not null default now(),
  step text not null,
  text text not null
);
create index job_log_job on job_log (job, id);
