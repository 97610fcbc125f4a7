-- Events that buckets are to tell of, written with the change itself, until their target has taken them.
create table events (
  id integer primary key,
  target text not null,
  -- one record of the S3 event form, JSON
  body text not null,
  created integer not null
);
create index events_target on events (target, id);
