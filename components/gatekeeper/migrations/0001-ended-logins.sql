-- Logins that ended here, or of which an issuer of someone else told one replica. As long as a token of theirs may live.
create table ended_login (
  session_id text,
  user_id text,
  -- SHA-256 of an access token.
  token text,
  ended_at timestamptz not null,
  check (coalesce(session_id, user_id, token) is not null)
);
create index ended_login_time on ended_login (ended_at);
