-- Groups that every new user is put into.
alter table user_group add column is_default boolean not null default false;
-- What is good once: permission tickets, assertions and proofs of clients, codes of second factors. By hash.
create table used_once (
  id text primary key,
  expires_at timestamptz not null
);
create index used_once_expiry on used_once (expires_at);
