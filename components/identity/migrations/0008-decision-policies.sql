-- Decision policies of variant B, as they came. The resource is that of an authz_resource, or one that others enforce.
create table decision_policy (
  id uuid primary key default gen_random_uuid(),
  realm_id uuid not null references realm on delete cascade,
  resource_id text not null check (length(resource_id) between 1 and 255),
  -- Id of the user whose policy it is.
  owner text not null,
  document jsonb not null,
  created_at timestamptz not null default now()
);
create index decision_policy_resource on decision_policy (realm_id, resource_id);

-- Terms and conditions that policies ask for, and who has accepted them.
create table term (
  realm_id uuid not null references realm on delete cascade,
  id text not null check (length(id) between 1 and 128),
  document jsonb not null,
  primary key (realm_id, id)
);
create table term_acceptance (
  realm_id uuid not null,
  term text not null,
  user_id uuid not null references app_user on delete cascade,
  accepted_at timestamptz not null default now(),
  primary key (realm_id, term, user_id),
  foreign key (realm_id, term) references term on delete cascade
);
create index term_acceptance_user on term_acceptance (user_id);
