-- Failed attempts by account and address in columns of their own, empty for any: a text of both could be the name of another account.
-- Failures are forgotten by themselves, so that those before this are dropped.
drop table login_failure;
create table login_failure (
  realm_id uuid not null references realm on delete cascade,
  kind text not null check (kind in ('login', 'device-code')),
  account text not null default '',
  address text not null default '',
  failures integer not null,
  last_failure timestamptz not null,
  locked_until timestamptz,
  primary key (realm_id, kind, account, address)
);
create index login_failure_address on login_failure (realm_id, address) where account = '';

-- From where an account has logged in: such a place does not wait because others guess.
create table known_login (
  realm_id uuid not null references realm on delete cascade,
  account text not null,
  address text not null,
  last_login timestamptz not null default now(),
  primary key (realm_id, account, address)
);
