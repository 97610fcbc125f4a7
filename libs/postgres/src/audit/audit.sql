-- One trail for all services. A service notes an entry in its own transaction, which takes no lock; sealing gives entries their
-- numbers and chains them. Roles of services may call two functions and touch no table.
create schema if not exists audit;

create table if not exists audit.service (role text primary key, name text not null);

create table if not exists audit.pending (
  n bigint generated always as identity primary key,
  line jsonb not null
);

-- `hash` is SHA-256 of the hash before it and of `line`, so that no line can be changed, taken out or put in between unseen.
create table if not exists audit.entry (
  n bigint primary key,
  line text not null,
  hash bytea not null,
  at text generated always as (line::jsonb ->> 'at') stored,
  service text generated always as (line::jsonb ->> 'service') stored,
  action text generated always as (line::jsonb ->> 'action') stored,
  actor text generated always as (line::jsonb ->> 'actor') stored
);
create index if not exists entry_by_actor on audit.entry (actor, n);
create index if not exists entry_by_action on audit.entry (action, n);

create table if not exists audit.head (
  only_one boolean primary key default true check (only_one),
  n bigint not null,
  hash bytea not null
);
insert into audit.head (n, hash) values (0, '') on conflict do nothing;

create or replace function audit.refuse() returns trigger language plpgsql as $$
begin
  raise exception 'the audit trail is append-only';
end $$;
create or replace trigger append_only before update or delete or truncate on audit.entry
  for each statement execute function audit.refuse();

-- Who notes it and when is not for the caller to say.
create or replace function audit.note(entry jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog as $$
begin
  if octet_length(entry::text) > 8192 then
    entry := jsonb_build_object('action', left(entry ->> 'action', 200), 'actor', left(entry ->> 'actor', 200), 'shortened', true);
  end if;
  insert into audit.pending (line) values (entry || jsonb_build_object(
    'at', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'service', coalesce(
      (select name from audit.service where role in (session_user, regexp_replace(session_user, '_rotating$', '')) limit 1),
      session_user)));
end $$;

-- Chains what was noted, in batches; one at a time, and nobody waits for it. Gives how many.
create or replace function audit.seal(most int default 1000) returns int
  language plpgsql security definer set search_path = pg_catalog as $$
declare
  last audit.head;
  noted record;
  text_of text;
  sealed int := 0;
begin
  if not pg_try_advisory_xact_lock(hashtext('swath audit')) then
    return 0;
  end if;
  select * into last from audit.head;
  for noted in
    with taken as (
      delete from audit.pending where n in (select n from audit.pending order by n limit most) returning n, line
    ) select line from taken order by n
  loop
    last.n := last.n + 1;
    text_of := (noted.line || jsonb_build_object('n', last.n))::text;
    last.hash := sha256(last.hash || convert_to(text_of, 'UTF8'));
    insert into audit.entry (n, line, hash) values (last.n, text_of, last.hash);
    sealed := sealed + 1;
  end loop;
  if sealed > 0 then
    update audit.head set n = last.n, hash = last.hash;
  end if;
  return sealed;
end $$;

revoke all on schema audit from public;
revoke all on all tables in schema audit from public;
revoke all on all functions in schema audit from public;
