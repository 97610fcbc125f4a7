create table workspace (
  name text primary key,
  preferred_name text not null,
  -- The owner as the caller named it, and who that is where the identity service could be asked.
  owner text not null,
  owner_id text,
  owner_name text,
  -- kept: deleted, but its bucket still holds the owner's data.
  phase text not null default 'active' check (phase in ('active', 'deleting', 'kept')),
  data text check (data in ('keep', 'purge')),
  quota_mb integer check (quota_mb > 0),
  -- A higher number asks for new storage keys.
  key_version integer not null default 1,
  -- What is wanted, and up to where it has been carried out.
  generation bigint not null default 1,
  observed_generation bigint not null default 0,
  idempotency_key text,
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The reconciler's: when to look next, and until when somebody is looking.
  next_at timestamptz not null default now(),
  lease_until timestamptz,
  checked_at timestamptz
);
create index workspace_owner on workspace (owner_id);
create index workspace_next on workspace (next_at) where phase <> 'kept';

create table member (
  workspace text not null references workspace on delete cascade,
  username text not null,
  user_id text,
  role text not null check (role in ('owner', 'writer', 'reader')),
  primary key (workspace, username)
);
create index member_user on member (user_id);
create index member_username on member (username);

-- What one provisioning step has made, or why it has not.
create table step (
  workspace text not null references workspace on delete cascade,
  name text not null,
  state text not null check (state in ('pending', 'done', 'failed')),
  attempts integer not null default 0,
  error text,
  -- Names, keys and passwords that the step made; never logged.
  outputs jsonb,
  updated_at timestamptz not null default now(),
  primary key (workspace, name)
);

-- What the reconciler found changed behind its back and put right.
create table repair (
  id bigint generated always as identity primary key,
  workspace text not null references workspace on delete cascade,
  step text not null,
  what text not null,
  at timestamptz not null default now()
);
create index repair_workspace on repair (workspace, id desc);

-- Requests to register data or services, in the order they came.
create table registration (
  id bigint generated always as identity primary key,
  workspace text not null references workspace on delete cascade,
  queue text not null,
  payload jsonb not null,
  state text not null default 'pending' check (state in ('pending', 'done', 'failed')),
  message text,
  requested_by text,
  requested_at timestamptz not null default now(),
  done_at timestamptz
);
create index registration_workspace on registration (workspace, id desc);
create index registration_pending on registration (queue, id) where state = 'pending';

-- When a reconciler last said that it is at work.
create table reconciler (
  id text primary key,
  seen_at timestamptz not null default now()
);
