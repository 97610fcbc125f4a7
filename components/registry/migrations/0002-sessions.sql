-- People who are signed in to the console.
create table session (
  -- SHA-256 of a random secret.
  digest bytea primary key,
  -- null: the administrator by password.
  username text,
  -- What the session hangs on: the password, the secret or the person that it was opened with. It ends when that is another.
  proof text not null,
  expires_at timestamptz not null
);
create index on session (expires_at);
