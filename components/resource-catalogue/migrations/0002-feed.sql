-- Changes up to here have been removed; followers that stopped before it must begin anew.
create table feed_state (
  is_single boolean primary key default true check (is_single),
  removed_tx xid8 not null default '0',
  removed_n bigint not null default 0
);
insert into feed_state default values;

-- Who is told of changes by POST. The place in the feed moves on when the other side has taken what came before.
create table subscription (
  id uuid primary key default gen_random_uuid(),
  url text not null,
  -- Signs what is sent (HMAC-SHA-256), where there is one.
  secret text,
  -- Null: of all collections.
  collections text[],
  -- Who made it; null for operators.
  created_by text,
  after_tx xid8 not null,
  after_n bigint not null,
  after_i integer not null,
  failures integer not null default 0,
  last_error text,
  next_at timestamptz not null default now(),
  made_at timestamptz not null default now()
);
create index subscription_due on subscription (next_at);

-- Statistics of these would only cost.
alter table record alter column doc set statistics 0, alter column links set statistics 0, alter column extra set statistics 0,
  alter column source set statistics 0, alter column shapes set statistics 0, alter column holes set statistics 0,
  alter column bbox set statistics 0;
