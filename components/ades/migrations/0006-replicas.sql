-- One life of one instance of the service. Several share the queue; each says on which machine it is and what it may use there.
create table instance (
  id text primary key,
  -- Instances on one machine share what it has.
  host text not null,
  -- Which process it is there, so that the next one knows at once that it has ended.
  process text not null,
  -- The most that it gives to one job.
  job_cores real not null,
  job_ram_mib integer not null,
  seen_at timestamptz not null default now()
);

alter table job
  -- The instance that has the job at work.
  add holder text,
  -- What it gave the job of its machine.
  add granted_ram_mib integer,
  -- When its runner was heard of last, and what it was doing.
  add heard_at timestamptz,
  add stage text,
  -- What a failure is answered with where the results are asked for: {status, title, type}.
  add failure json;
create index job_holder on job (holder) where status = 'running';

-- Whoever had these has ended: earlier versions did not say who they were.
update job set lease_until = now() where status = 'running';
