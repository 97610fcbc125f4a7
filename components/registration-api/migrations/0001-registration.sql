-- What is to be registered, removed or harvested, in the order in which it was accepted: the id is that order.
create table task (
  id bigint generated always as identity primary key,
  kind text not null,
  -- The workspace that it goes to; empty: the platform.
  scope text not null default '',
  -- Tasks of one key are carried out one after another.
  order_key text not null,
  payload jsonb not null,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'superseded', 'cancelled')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  lease uuid,
  lease_until timestamptz,
  -- Why it failed, or is tried again.
  reason text,
  -- Counts of records, while it runs and at its end.
  result jsonb,
  -- Where a long task goes on after its worker ended.
  position jsonb,
  requested_by text,
  idempotency_key text unique,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index task_due on task (due_at, id) where state = 'queued';
create index task_open on task (order_key, id) where state in ('queued', 'running');
create index task_leased on task (lease_until) where state = 'running';
create index task_scope on task (scope, id desc);
create index task_set_aside on task (id desc) where state = 'failed';

-- Records of a task that could not be registered, with what is wrong with them; the first ones.
create table problem (
  id bigint generated always as identity primary key,
  task bigint not null references task on delete cascade,
  record text not null,
  reason text not null,
  at timestamptz not null default now()
);
create index problem_task on problem (task, id);

-- What was written to the catalogue last, so that the last accepted change wins and repetitions change nothing.
create table record (
  scope text not null,
  -- Empty: the record is a collection.
  collection text not null,
  id text not null,
  -- The task that it is from.
  sequence bigint not null,
  -- Of the document; null once it is removed.
  hash bytea,
  -- The address that was registered, and the document's own.
  source text,
  document text,
  harvester text,
  run bigint,
  primary key (scope, collection, id)
);
create index record_source on record (scope, source) where source is not null;
create index record_document on record (scope, document) where document is not null;
create index record_id on record (scope, id);
create index record_harvester on record (harvester, run) where harvester is not null;

create table harvester (
  name text not null,
  scope text not null default '',
  -- As it was given, without secrets.
  config jsonb not null,
  -- A cron expression or an interval in seconds; null: on request only.
  schedule text,
  enabled boolean not null default true,
  -- From when the next run asks for what changed.
  cursor jsonb,
  next_at timestamptz,
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (scope, name)
);
create index harvester_next on harvester (next_at) where enabled;

-- Objects of watched buckets as they were seen last.
create table watched_object (
  harvester text not null,
  scope text not null,
  key text not null,
  etag text not null,
  seen bigint not null,
  primary key (scope, harvester, key)
);

create or replace function tell_task() returns trigger language plpgsql as $$
begin
  perform pg_notify('registration_task', '');
  return null;
end $$;
create trigger task_told after insert on task for each statement execute function tell_task();
