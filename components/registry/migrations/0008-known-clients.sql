alter table upstream drop constraint upstream_kind_check;
alter table upstream add check (kind in ('docker-hub', 'docker-registry', 'harbor'));

-- The receiver's certificate is not looked at.
alter table webhook add column skips_verification boolean not null default false;
update webhook set auth_header = null where auth_header = '';

-- What clients such as docker keep in place of a password.
create table refresh_token (
  -- SHA-256 of a random secret.
  digest bytea primary key,
  -- As it is typed: a user, a robot or the administrator.
  username text not null,
  -- What the token hangs on: a digest of the password or secret that it was given for. It ends when that is another.
  proof text not null,
  expires_at timestamptz not null
);
create index on refresh_token (username);
create index on refresh_token (expires_at);
