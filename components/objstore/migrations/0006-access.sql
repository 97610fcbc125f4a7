-- Accounts: users of the deployment's own share one (''); a user may have one of its own, whose buckets are nobody else's.
alter table users add column account text not null default '';
alter table users add column email text;
-- A policy that bounds what the user's own policy may allow; null: none.
alter table users add column boundary text;
alter table buckets add column account text not null default '';

-- Access control lists (JSON) take effect where the ownership of objects is not enforced.
alter table buckets add column ownership text not null default 'BucketOwnerEnforced';
alter table buckets add column acl text;
alter table versions add column acl text;
alter table uploads add column acl text;

-- Object Lock: the bucket's default (JSON; null: not enabled), and mode, end and legal hold of a version (JSON).
alter table buckets add column object_lock text;
alter table versions add column lock text;
alter table uploads add column lock text;

-- How a version is encrypted (JSON; null: not), and what a bucket asks for (JSON of the configuration).
alter table buckets add column encryption text;
alter table versions add column encryption text;
alter table uploads add column encryption text;

-- Documents as they came.
alter table buckets add column payer text;
alter table buckets add column logging text;
alter table buckets add column notification text;
alter table buckets add column website text;

-- Grows with every part that comes, so that completing an upload sees whether one came meanwhile.
alter table uploads add column changes integer not null default 0;

-- Uploads that were completed lately: a client that did not hear of it asks again, and is told the same.
create table completions (
  upload text primary key,
  bucket integer not null,
  key text not null,
  version text not null,
  seq integer not null,
  completed integer not null
) without rowid;
create index completions_time on completions (completed);
