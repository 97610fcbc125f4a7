-- Device authorizations (RFC 8628) that wait for somebody in a browser, or for the device to fetch its tokens.
create table device_grant (
  -- SHA-256 of the device code.
  id text primary key,
  realm_id uuid not null references realm on delete cascade,
  client uuid not null references client on delete cascade,
  user_code text not null,
  scope text not null,
  -- Null while nobody has decided.
  is_allowed boolean,
  user_id uuid references app_user on delete cascade,
  decided_at timestamptz,
  interval_seconds int not null,
  polled_at timestamptz,
  expires_at timestamptz not null,
  unique (realm_id, user_code)
);
create index device_grant_expiry on device_grant (expires_at);
