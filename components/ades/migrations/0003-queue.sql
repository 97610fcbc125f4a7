alter table job
  -- How often its runner ended without an answer. Restarts of the service do not count.
  add deaths integer not null default 0,
  -- What its largest tool asks for: with less it cannot run.
  add need_cores real not null default 1,
  add need_ram_mib integer not null default 256,
  -- What all its tools may use side by side; null for as much as a job may have.
  add wish_ram_mib integer;

drop index job_queue;
create index job_queue on job (owner, created_at, id) where status in ('accepted', 'running');

-- When a user's turn was last, so that users with as many jobs at work take turns.
create table queue_turn (
  owner text primary key,
  served_at timestamptz not null
);
