-- Clients that are to be told of a session that has ended (OpenID Connect Back-Channel Logout 1.0 §2.5), until they were. Nothing is
-- referred to: the session is gone, and its realm or client may go before the notice does.
create table logout_notice (
  id uuid primary key default gen_random_uuid(),
  realm_id uuid not null,
  client uuid not null,
  session_id text not null,
  user_id uuid not null,
  attempts int not null default 0,
  next_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '1 hour'
);
create index logout_notice_next on logout_notice (next_at);

-- However a session ends (logout, an administrator, time, its user's account), in the same transaction.
create function note_ended_session() returns trigger language plpgsql as $$
begin
  insert into logout_notice (realm_id, client, session_id, user_id)
  select distinct old.realm_id, c.id, old.id, old.user_id
  from client_session s join client c on c.id = s.client
  where s.session_id = old.id and coalesce(c.settings -> 'attributes' ->> 'backchannel.logout.url', '') <> '';
  return old;
end
$$;
create trigger user_session_ended before delete on user_session for each row execute function note_ended_session();
