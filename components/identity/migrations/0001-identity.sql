create table realm (
  id uuid primary key default gen_random_uuid(),
  name text not null unique check (name ~ '^[A-Za-z0-9_.-]{1,64}$'),
  display_name text,
  enabled boolean not null default true,
  -- What differs from the defaults of realm-settings.ts.
  settings jsonb not null default '{}',
  -- Signs cookies and the tokens that only this service reads (refresh tokens, form tokens).
  secret text not null,
  created_at timestamptz not null default now()
);

create table signing_key (
  kid text primary key,
  realm_id uuid not null references realm on delete cascade,
  alg text not null,
  private_jwk jsonb not null,
  -- active: signs. passive: still verifies. disabled: neither.
  status text not null check (status in ('active', 'passive', 'disabled')),
  created_at timestamptz not null default now(),
  -- When a passive key may go: no token signed with it lives any longer.
  retire_at timestamptz
);
create index signing_key_realm on signing_key (realm_id);

create table client (
  id uuid primary key default gen_random_uuid(),
  realm_id uuid not null references realm on delete cascade,
  client_id text not null check (length(client_id) between 1 and 255),
  secret text,
  -- The other fields of a client representation.
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  unique (realm_id, client_id)
);

create table app_user (
  id uuid primary key default gen_random_uuid(),
  realm_id uuid not null references realm on delete cascade,
  username text not null check (username = lower(username) and length(username) between 1 and 255),
  email text,
  email_verified boolean not null default false,
  first_name text,
  last_name text,
  enabled boolean not null default true,
  attributes jsonb not null default '{}',
  required_actions text[] not null default '{}',
  -- Set for the account of a client itself (client credentials).
  service_client uuid unique references client on delete cascade,
  created_at timestamptz not null default now(),
  unique (realm_id, username)
);
create unique index app_user_email on app_user (realm_id, lower(email)) where email is not null;

create table credential (
  user_id uuid primary key references app_user on delete cascade,
  password_hash text not null,
  temporary boolean not null default false,
  changed_at timestamptz not null default now()
);

create table role (
  id uuid primary key default gen_random_uuid(),
  realm_id uuid not null references realm on delete cascade,
  client uuid references client on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  attributes jsonb not null default '{}',
  unique nulls not distinct (realm_id, client, name)
);
create table role_composite (
  parent uuid not null references role on delete cascade,
  child uuid not null references role on delete cascade,
  primary key (parent, child)
);
create index role_composite_child on role_composite (child);
create table user_role (
  user_id uuid not null references app_user on delete cascade,
  role_id uuid not null references role on delete cascade,
  primary key (user_id, role_id)
);
create index user_role_role on user_role (role_id);

create table user_group (
  id uuid primary key default gen_random_uuid(),
  realm_id uuid not null references realm on delete cascade,
  parent uuid references user_group on delete cascade,
  name text not null check (name <> '' and position('/' in name) = 0),
  path text not null,
  attributes jsonb not null default '{}',
  unique (realm_id, path)
);
create index user_group_parent on user_group (parent);
create table group_member (
  user_id uuid not null references app_user on delete cascade,
  group_id uuid not null references user_group on delete cascade,
  primary key (user_id, group_id)
);
create index group_member_group on group_member (group_id);
create table group_role (
  group_id uuid not null references user_group on delete cascade,
  role_id uuid not null references role on delete cascade,
  primary key (group_id, role_id)
);
create index group_role_role on group_role (role_id);

-- A login: in a browser, or by the password grant.
create table user_session (
  id text primary key,
  realm_id uuid not null references realm on delete cascade,
  user_id uuid not null references app_user on delete cascade,
  started_at timestamptz not null default now(),
  last_access timestamptz not null default now(),
  expires_at timestamptz not null,
  ends_at timestamptz not null,
  offline boolean not null default false,
  ip text,
  user_agent text
) with (fillfactor = 80);
create index user_session_user on user_session (user_id);
create index user_session_realm on user_session (realm_id, last_access);
create index user_session_expiry on user_session (expires_at);

-- What one client holds of a session: the refresh token that is good now.
create table client_session (
  session_id text not null references user_session on delete cascade,
  client uuid not null references client on delete cascade,
  scope text not null,
  nonce text,
  auth_time timestamptz not null default now(),
  refresh_id text not null,
  previous_id text,
  rotated_at timestamptz not null default now(),
  primary key (session_id, client)
) with (fillfactor = 70);
create index client_session_client on client_session (client);

-- Records of the protocol engine: browser sessions, interactions, codes, grants.
create table oidc_record (
  realm_id uuid not null references realm on delete cascade,
  model text not null,
  id text not null,
  payload jsonb not null,
  grant_id text,
  uid text,
  account_id text,
  expires_at timestamptz,
  consumed_at timestamptz,
  primary key (realm_id, model, id)
);
create index oidc_record_expiry on oidc_record (expires_at);
create index oidc_record_uid on oidc_record (uid) where uid is not null;
create index oidc_record_grant on oidc_record (grant_id) where grant_id is not null;
create index oidc_record_account on oidc_record (account_id) where account_id is not null;

-- Access tokens that were revoked before their end.
create table revoked_token (
  jti text primary key,
  expires_at timestamptz not null
);
create index revoked_token_expiry on revoked_token (expires_at);

create table resource_server (
  client uuid primary key references client on delete cascade,
  version bigint not null default 1,
  enforcement_mode text not null default 'ENFORCING',
  decision_strategy text not null default 'UNANIMOUS',
  allow_remote boolean not null default true
);
create table authz_scope (
  id uuid primary key default gen_random_uuid(),
  client uuid not null references resource_server on delete cascade,
  name text not null check (name <> ''),
  display_name text,
  icon_uri text,
  unique (client, name)
);
create table authz_resource (
  id uuid primary key default gen_random_uuid(),
  client uuid not null references resource_server on delete cascade,
  name text not null check (name <> ''),
  display_name text,
  type text,
  icon_uri text,
  owner text not null,
  owner_managed boolean not null default false,
  uris text[] not null default '{}',
  attributes jsonb not null default '{}',
  unique (client, owner, name)
);
create table authz_resource_scope (
  resource uuid not null references authz_resource on delete cascade,
  scope uuid not null references authz_scope on delete cascade,
  primary key (resource, scope)
);
create index authz_resource_scope_scope on authz_resource_scope (scope);
-- Policies and permissions alike: a permission is a policy of type resource or scope.
create table authz_policy (
  id uuid primary key default gen_random_uuid(),
  client uuid not null references resource_server on delete cascade,
  name text not null check (name <> ''),
  description text,
  type text not null,
  logic text not null default 'POSITIVE',
  decision_strategy text not null default 'UNANIMOUS',
  owner text,
  config jsonb not null default '{}',
  unique (client, name)
);
create table authz_policy_resource (
  policy uuid not null references authz_policy on delete cascade,
  resource uuid not null references authz_resource on delete cascade,
  primary key (policy, resource)
);
create index authz_policy_resource_resource on authz_policy_resource (resource);
create table authz_policy_scope (
  policy uuid not null references authz_policy on delete cascade,
  scope uuid not null references authz_scope on delete cascade,
  primary key (policy, scope)
);
create index authz_policy_scope_scope on authz_policy_scope (scope);
create table authz_policy_member (
  policy uuid not null references authz_policy on delete cascade,
  member uuid not null references authz_policy on delete cascade,
  primary key (policy, member)
);
create index authz_policy_member_member on authz_policy_member (member);

-- Failed logins of a user name or of an address.
create table login_failure (
  realm_id uuid not null references realm on delete cascade,
  subject text not null,
  failures integer not null,
  last_failure timestamptz not null,
  locked_until timestamptz,
  primary key (realm_id, subject)
);

create table event (
  id bigint generated always as identity primary key,
  realm_id uuid not null references realm on delete cascade,
  at timestamptz not null default now(),
  type text not null,
  user_id text,
  client_id text,
  session_id text,
  ip text,
  error text,
  details jsonb not null default '{}'
);
create index event_realm on event (realm_id, at desc);
create index event_user on event (user_id, at desc) where user_id is not null;
create table admin_event (
  id bigint generated always as identity primary key,
  realm_id uuid not null references realm on delete cascade,
  at timestamptz not null default now(),
  operation text not null,
  resource_type text not null,
  resource_path text not null,
  actor_id text,
  actor_name text,
  actor_client text,
  ip text
);
create index admin_event_realm on admin_event (realm_id, at desc);

-- A user's effective roles (own, of groups and their parents, and composites of all these) and group paths.
create function user_access(subject uuid) returns jsonb language sql stable as $$
  with recursive groups as (
    select g.id, g.parent, g.path, true as direct
      from group_member m join user_group g on g.id = m.group_id where m.user_id = subject
    union
    select p.id, p.parent, p.path, false from groups c join user_group p on p.id = c.parent
  ), roles as (
    (select role_id as id from user_role where user_id = subject
     union
     select gr.role_id from group_role gr join groups g on g.id = gr.group_id)
    union
    select c.child from roles r join role_composite c on c.parent = r.id
  ), named as (
    select r.name, c.client_id from roles join role r on r.id = roles.id left join client c on c.id = r.client
  ), per_client as (
    select client_id, jsonb_agg(name order by name) as names from named where client_id is not null group by client_id
  )
  select jsonb_build_object(
    'realm', coalesce((select jsonb_agg(name order by name) from named where client_id is null), '[]'),
    'clients', coalesce((select jsonb_object_agg(client_id, names) from per_client), '{}'),
    'groups', coalesce((select jsonb_agg(distinct path) from groups where direct), '[]'))
$$;
