-- Files of form 1 end with the checksums of their blocks and with what they are; older ones are bytes alone.
alter table files add column form integer not null default 0;
alter table parts add column form integer not null default 0;
-- CRC-32 of `data`; null in rows of older releases, which have their MD5 only.
alter table contents add column crc integer;
-- Content file that says what a version is when the files of its bytes do not: copies, and objects that came in parts.
alter table versions add column label text;

-- One version among many thousands of its key: by its id, and the one `null` version that lies under newer ones.
alter table versions add column buried integer not null default 0;
update versions set buried = 1 where version = 'null' and exists (
  select 1 from versions newer where newer.bucket = versions.bucket and newer.key = versions.key and newer.seq > versions.seq
);
create index versions_id on versions (bucket, key, version) where version <> 'null';
create index versions_buried on versions (bucket, key) where buried = 1;
create index files_damage on files (id) where damage is not null;
