-- Second factors of users. A one-time code (RFC 6238) is good once: last_step is the time step of the last one that was taken.
create table otp_device (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references app_user on delete cascade,
  label text not null,
  secret text not null,
  last_step bigint not null default 0,
  created_at timestamptz not null default now()
);
create index otp_device_user on otp_device (user_id);

-- Codes for who has lost the device, each good once. Only their hashes are kept.
create table recovery_code (
  user_id uuid not null references app_user on delete cascade,
  code_hash text not null,
  primary key (user_id, code_hash)
);
