create table bucket (
  name text primary key,
  bucket_name text not null unique,
  -- Kubernetes Secret with the keys, where the platform runs on a cluster.
  secret_name text,
  secret_namespace text,
  -- Keys of its own; without them only the bucket is made.
  with_keys boolean not null default true,
  -- What deletion does with the data.
  removal text not null default 'retain' check (removal in ('retain', 'delete')),
  -- Namespace of the Bucket resource that asks for it; null for one that was asked for by the API.
  namespace text,
  phase text not null default 'active' check (phase in ('active', 'deleting', 'kept')),
  generation bigint not null default 1,
  observed_generation bigint not null default 0,
  -- What was made so far: ids, keys.
  state jsonb not null default '{}',
  ready boolean not null default false,
  reason text not null default 'Pending',
  message text not null default '',
  changed_at timestamptz not null default now(),
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  next_at timestamptz not null default now(),
  lease_until timestamptz
);
create index bucket_next on bucket (next_at) where phase <> 'kept';
