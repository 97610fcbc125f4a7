-- Only what is signed with one of the keys is pulled for processing.
alter table project add column prevents_unsigned boolean not null default false;
-- Public keys, PEM.
alter table project add column trusted_keys text[] not null default '{}';
