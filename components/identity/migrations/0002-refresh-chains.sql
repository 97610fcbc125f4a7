-- A client may hold several chains of refresh tokens of one session: two windows of a browser each redeem a code of their own.
alter table client_session add column chain uuid not null default gen_random_uuid();
alter table client_session drop constraint client_session_pkey, add primary key (session_id, client, chain);
