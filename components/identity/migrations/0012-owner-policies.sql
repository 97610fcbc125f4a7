-- Policies by which the owner of a resource shares it (type uma): each owner has names of their own, and they go with the owner.
alter table authz_policy
  drop constraint authz_policy_client_name_key,
  drop column owner,
  add column owner uuid references app_user on delete cascade;
create unique index authz_policy_name on authz_policy (client, name) where owner is null;
create unique index authz_policy_owner_name on authz_policy (owner, client, name) where owner is not null;
