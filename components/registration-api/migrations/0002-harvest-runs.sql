-- The last run of each harvester.
create index task_harvest on task (order_key, id desc) where kind = 'harvest';
-- What a later task of the same key makes pointless.
create index task_failed on task (order_key, id) where state = 'failed';

-- Where a watching harvester looks, `s3://bucket/prefix`; set once its bucket tells of changes.
alter table harvester add column watched text;

-- Addresses whose records go when the object goes: results of jobs.
create table followed_source (
  scope text not null,
  address text not null,
  primary key (address, scope)
);
