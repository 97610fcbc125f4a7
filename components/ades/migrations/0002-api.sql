-- Pages of the job list begin where the former ended, whatever it is narrowed to.
drop index job_owner;
create index job_owner on job (owner, created_at desc, id desc);
create index job_owner_status on job (owner, status, created_at desc, id desc);
create index job_owner_process on job (owner, process_id, created_at desc, id desc);
-- Jobs whose time to be kept is over.
create index job_ended on job (finished_at) where status in ('successful', 'failed', 'dismissed');

-- As they were given, also in their order: inputs are shown, and outputs are sent, in the order of the package.
alter table process alter description type json using description::json;
alter table job alter request type json using request::json, alter result type json using result::json;

-- Which workflow of the package it is, where the process was given an id of its own.
alter table process add entry text;

-- What a step runs, for the record of where results come from.
alter table job_step add command jsonb, add image text;

-- What others are to be told of a job: its subscriber, and the catalogue that results are registered in.
create table delivery (
  id uuid primary key default gen_random_uuid(),
  job uuid not null references job on delete cascade,
  kind text not null check (kind in ('in-progress', 'success', 'failure', 'registration')),
  -- Address of the subscriber; empty for a registration.
  target text not null,
  status text not null default 'waiting' check (status in ('waiting', 'delivered', 'given-up')),
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  -- Why the last attempt failed.
  error text,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index delivery_next on delivery (next_at) where status = 'waiting';
create index delivery_job on delivery (job);

-- Queued in the same transaction as the change, whoever makes it: nobody is told of what did not happen, nothing is forgotten.
create function queue_deliveries() returns trigger language plpgsql as $$
declare
  subscriber json := coalesce(new.request -> 'subscriber', '{}');
  kind text := case new.status when 'running' then 'in-progress' when 'successful' then 'success' else 'failure' end;
  target text := subscriber ->> case new.status
    when 'running' then 'inProgressUri' when 'successful' then 'successUri' else 'failedUri' end;
begin
  if target is not null then
    insert into delivery (job, kind, target) values (new.id, kind, target);
  end if;
  if new.status = 'successful' and (new.request ->> 'register')::boolean and new.result ->> 'catalogUri' is not null then
    insert into delivery (job, kind, target) values (new.id, 'registration', '');
  end if;
  perform pg_notify('ades_delivery', new.id::text);
  return null;
end $$;
create trigger job_queues_deliveries after update of status on job for each row
  when (old.status is distinct from new.status and (new.request -> 'subscriber' is not null or new.request -> 'register' is not null))
  execute function queue_deliveries();

-- Results in the object storage whose job is forgotten, where they go with it.
create table removal (
  job uuid primary key,
  owner text not null,
  catalog_uri text not null,
  attempts integer not null default 0,
  next_at timestamptz not null default now(),
  error text
);
