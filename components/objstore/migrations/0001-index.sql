-- The index of the object store: what exists, who may use it, and which content belongs to it.
create table meta (name text primary key, value text not null) without rowid;

create table buckets (
  id integer primary key,
  name text not null unique,
  owner text not null,
  created integer not null,
  -- '' (never), 'Enabled' or 'Suspended'
  versioning text not null default '',
  policy text,
  cors text,
  lifecycle text,
  tags text,
  access_block text,
  quota_bytes integer,
  -- Kept in the same transaction as the rows they count. `bytes` counts all versions, `upload_bytes` parts of open uploads.
  objects integer not null default 0,
  bytes integer not null default 0,
  upload_bytes integer not null default 0
);

-- Every version of every key; the newest has the highest seq. Text compares by its UTF-8 bytes, which is the order of S3.
create table versions (
  bucket integer not null,
  key text not null,
  seq integer not null,
  version text not null,
  marker integer not null default 0,
  size integer not null,
  etag text not null,
  modified integer not null,
  owner text not null,
  content integer,
  parts integer,
  headers text not null,
  tags text,
  checksum text,
  primary key (bucket, key, seq desc)
) without rowid;

-- What a version holds: small content in the row itself, large content in the files listed by `parts`.
create table contents (
  id integer primary key,
  refs integer not null,
  md5 text,
  data blob,
  parts text
);

-- Every content file that may exist for good. A file on disk that is not here belongs to nobody.
create table files (
  id text primary key,
  size integer not null,
  md5 text not null,
  garbage integer not null default 0,
  checked integer not null default 0,
  -- null: sound as far as known; else what the scrub found
  damage text
) without rowid;
create index files_garbage on files (id) where garbage = 1;

create table uploads (
  id text primary key,
  bucket integer not null,
  key text not null,
  initiated integer not null,
  owner text not null,
  headers text not null,
  tags text,
  checksum_algorithm text,
  checksum_type text
) without rowid;
create unique index uploads_key on uploads (bucket, key, id);

create table parts (
  upload text not null,
  number integer not null,
  size integer not null,
  etag text not null,
  modified integer not null,
  file text not null,
  checksum text,
  primary key (upload, number)
) without rowid;

create table users (
  name text primary key,
  created integer not null,
  enabled integer not null default 1,
  policy text not null
) without rowid;

-- Keys of users, service accounts and sessions. The secret itself is needed to verify a signature.
create table access_keys (
  id text primary key,
  secret text not null,
  user text not null,
  title text not null default '',
  created integer not null,
  enabled integer not null default 1,
  -- A policy that narrows what the user may do; null: all that the user may.
  policy text,
  expires integer,
  -- Session token of temporary credentials.
  token text,
  -- Claims of the identity token that policy variables may name, as JSON.
  claims text
) without rowid;
create index access_keys_user on access_keys (user);
create index access_keys_expires on access_keys (expires) where expires is not null;

-- What holders of an identity token may become by AssumeRoleWithWebIdentity.
create table roles (
  name text primary key,
  created integer not null,
  policy text not null,
  claim text,
  claim_value text
) without rowid;
