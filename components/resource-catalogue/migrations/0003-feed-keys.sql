-- Keys that changes are followed with by services that have no login: of a workspace, or of everything.
create table feed_key (
  id uuid primary key default gen_random_uuid(),
  -- SHA-256 of the key, which is shown once.
  hash bytea not null unique,
  title text not null,
  -- Null: of all collections.
  workspace text,
  collections text[],
  made_at timestamptz not null default now()
);
