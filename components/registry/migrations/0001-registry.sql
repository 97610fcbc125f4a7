-- Projects, what is in them, and who may use them.
create table project (
  id bigint generated always as identity primary key,
  name text collate "C" not null unique,
  is_public boolean not null default false,
  -- Image indexes may name manifests that are not there.
  allows_sparse boolean not null default false,
  quota_bytes bigint check (quota_bytes >= 0),
  -- Distinct blobs and manifests of all repositories; kept by the triggers below.
  used_bytes bigint not null default 0 check (used_bytes >= 0),
  owner text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table member (
  id bigint generated always as identity primary key,
  project_id bigint not null references project on delete cascade,
  kind text not null check (kind in ('user', 'group')),
  name text not null,
  role text not null check (role in ('pull', 'push', 'maintain', 'admin')),
  created_at timestamptz not null default now(),
  unique (project_id, kind, name)
);
create index on member (kind, name);

create table robot (
  id bigint generated always as identity primary key,
  -- null: of the whole registry.
  project_id bigint references project on delete cascade,
  name text not null,
  description text not null default '',
  -- SHA-256 of a random secret.
  secret_digest bytea not null,
  -- [{ "project": "name or *", "actions": ["pull", …] }]
  permissions jsonb not null,
  expires_at timestamptz,
  is_disabled boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique nulls not distinct (project_id, name)
);

-- People who have come with a token of the identity service.
create table account (
  id bigint generated always as identity primary key,
  username text not null unique,
  user_id text not null,
  groups text[] not null default '{}',
  is_admin boolean not null default false,
  secret_digest bytea,
  secret_created_at timestamptz,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

create table repository (
  id bigint generated always as identity primary key,
  project_id bigint not null references project,
  name text collate "C" not null unique,
  description text not null default '',
  pull_count bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on repository (project_id, name);

-- Content, once however many repositories have it. `refs` counts the rows of repository_blob.
create table blob (
  digest text collate "C" primary key,
  size bigint not null,
  -- The name of the content in the blob store: new for every upload, so that deleting old content never meets new one.
  storage_id uuid not null unique,
  refs bigint not null default 0 check (refs >= 0),
  created_at timestamptz not null default now()
);
create index blob_unused on blob (digest) where refs = 0;

-- Content that no row names any more, to be deleted from the blob store.
create table discarded (
  storage_id uuid primary key,
  attempts integer not null default 0,
  next_at timestamptz not null default now()
);
create index on discarded (next_at);

create table project_blob (
  project_id bigint not null references project on delete cascade,
  digest text collate "C" not null,
  size bigint not null,
  refs bigint not null check (refs >= 0),
  primary key (project_id, digest)
);

create table repository_blob (
  repository_id bigint not null references repository,
  project_id bigint not null references project,
  digest text collate "C" not null references blob,
  size bigint not null,
  created_at timestamptz not null default now(),
  primary key (repository_id, digest)
);
create index on repository_blob (digest);

-- A push under way relies on a blob, whether or not a manifest of the repository refers to it. The holder is the token, which clients
-- change in the middle of a push; the subject is who pushes.
create table pin (
  repository_id bigint not null,
  digest text collate "C" not null,
  holder text not null,
  subject text not null,
  until timestamptz not null,
  primary key (repository_id, digest, holder),
  foreign key (repository_id, digest) references repository_blob on delete cascade
);
create index on pin (until);

create table manifest (
  repository_id bigint not null references repository,
  project_id bigint not null references project,
  digest text collate "C" not null,
  media_type text not null,
  size bigint not null,
  content bytea not null,
  subject text collate "C",
  artifact_type text,
  annotations jsonb,
  -- Bytes of the manifest, its config and its layers.
  total_size bigint not null,
  pushed_by text not null,
  pushed_at timestamptz not null default now(),
  pulled_at timestamptz,
  primary key (repository_id, digest)
);
create index on manifest (repository_id, subject, digest) where subject is not null;
create index on manifest (repository_id, pushed_at);

create table manifest_blob (
  repository_id bigint not null,
  manifest text collate "C" not null,
  blob text collate "C" not null,
  primary key (repository_id, manifest, blob),
  foreign key (repository_id, manifest) references manifest on delete cascade,
  foreign key (repository_id, blob) references repository_blob
);
create index on manifest_blob (repository_id, blob);

create table manifest_child (
  repository_id bigint not null,
  parent text collate "C" not null,
  child text collate "C" not null,
  primary key (repository_id, parent, child),
  foreign key (repository_id, parent) references manifest on delete cascade
);
create index on manifest_child (repository_id, child);

create table tag (
  repository_id bigint not null,
  name text collate "C" not null,
  digest text collate "C" not null,
  pushed_at timestamptz not null default now(),
  pulled_at timestamptz,
  primary key (repository_id, name),
  foreign key (repository_id, digest) references manifest on delete cascade
);
create index on tag (repository_id, digest);

create table upload (
  id uuid primary key,
  repository_id bigint not null references repository,
  project_id bigint not null references project,
  algorithm text not null,
  received bigint not null default 0,
  -- What the blob store needs to go on.
  state jsonb,
  -- The process that is writing, and until when it is believed without hearing from it.
  writer text,
  leased_until timestamptz,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on upload (updated_at);
create index on upload (repository_id);

create table immutable_rule (
  id bigint generated always as identity primary key,
  project_id bigint not null references project on delete cascade,
  repositories text not null default '**',
  tags text not null,
  is_disabled boolean not null default false
);
create index on immutable_rule (project_id);

create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  operation text not null,
  project text not null,
  resource_type text not null,
  resource text not null
);
create index on audit (project, id);

-- Counts. Rows of blob are locked in the order of their digests, so that two transactions never wait for each other.
create function count_added_links() returns trigger language plpgsql as $$
begin
  perform from blob where digest in (select digest from added) order by digest for update;
  update blob set refs = blob.refs + a.n
    from (select digest, count(*) as n from added group by digest) a where blob.digest = a.digest;
  insert into project_blob (project_id, digest, size, refs)
    select project_id, digest, size, count(*) from added group by project_id, digest, size order by project_id, digest
    on conflict (project_id, digest) do update set refs = project_blob.refs + excluded.refs;
  return null;
end $$;
create trigger count_added after insert on repository_blob
  referencing new table as added for each statement execute function count_added_links();

create function count_removed_links() returns trigger language plpgsql as $$
begin
  perform from blob where digest in (select digest from removed) order by digest for update;
  update blob set refs = blob.refs - r.n
    from (select digest, count(*) as n from removed group by digest) r where blob.digest = r.digest;
  update project_blob p set refs = p.refs - r.n
    from (select project_id, digest, count(*) as n from removed group by project_id, digest) r
    where p.project_id = r.project_id and p.digest = r.digest;
  delete from project_blob p using (select distinct project_id, digest from removed) r
    where p.project_id = r.project_id and p.digest = r.digest and p.refs = 0;
  if exists (select from blob where refs = 0 and digest in (select digest from removed)) then
    notify registry_garbage;
  end if;
  return null;
end $$;
create trigger count_removed after delete on repository_blob
  referencing old table as removed for each statement execute function count_removed_links();

create function add_used_bytes() returns trigger language plpgsql as $$
begin
  update project set used_bytes = used_bytes + a.bytes
    from (select project_id, sum(size) as bytes from added group by project_id) a where project.id = a.project_id;
  return null;
end $$;
create function subtract_used_bytes() returns trigger language plpgsql as $$
begin
  update project set used_bytes = used_bytes - r.bytes
    from (select project_id, sum(size) as bytes from removed group by project_id) r where project.id = r.project_id;
  return null;
end $$;
create trigger use_blobs after insert on project_blob
  referencing new table as added for each statement execute function add_used_bytes();
create trigger free_blobs after delete on project_blob
  referencing old table as removed for each statement execute function subtract_used_bytes();
create trigger use_manifests after insert on manifest
  referencing new table as added for each statement execute function add_used_bytes();
create trigger free_manifests after delete on manifest
  referencing old table as removed for each statement execute function subtract_used_bytes();
