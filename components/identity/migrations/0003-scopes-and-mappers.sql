-- What a scope stands for: the claims that its mappers add, and the roles that it lets through.
create table client_scope (
  id uuid primary key default gen_random_uuid(),
  realm_id uuid not null references realm on delete cascade,
  name text not null check (length(name) between 1 and 255),
  description text,
  protocol text not null default 'openid-connect',
  attributes jsonb not null default '{}',
  unique (realm_id, name)
);
-- Scopes that a new client gets: default ones are granted always, optional ones when asked for.
create table realm_client_scope (
  realm_id uuid not null references realm on delete cascade,
  scope uuid not null references client_scope on delete cascade,
  optional boolean not null,
  primary key (realm_id, scope)
);
create table client_client_scope (
  client uuid not null references client on delete cascade,
  scope uuid not null references client_scope on delete cascade,
  optional boolean not null,
  primary key (client, scope)
);
create index client_client_scope_scope on client_client_scope (scope);
create table protocol_mapper (
  id uuid primary key default gen_random_uuid(),
  client uuid references client on delete cascade,
  scope uuid references client_scope on delete cascade,
  name text not null check (length(name) between 1 and 255),
  type text not null,
  config jsonb not null default '{}',
  check ((client is null) <> (scope is null)),
  unique nulls not distinct (client, scope, name)
);
create index protocol_mapper_scope on protocol_mapper (scope);
-- Roles that a client without full scope, or a scope, lets into tokens.
create table scope_mapping (
  client uuid references client on delete cascade,
  scope uuid references client_scope on delete cascade,
  role_id uuid not null references role on delete cascade,
  check ((client is null) <> (scope is null)),
  unique nulls not distinct (client, scope, role_id)
);
create index scope_mapping_role on scope_mapping (role_id);
create index scope_mapping_scope on scope_mapping (scope);

-- Adds the scopes that every realm begins with.
create function add_built_in_scopes(realm uuid) returns void language plpgsql as $$
declare
  item record;
  made uuid;
begin
  for item in select * from (values
    ('profile', false, 'true', 'User name, full name and the like', '[
      ["full name", "oidc-full-name-mapper", {}],
      ["username", "oidc-usermodel-attribute-mapper", {"user.attribute": "username", "claim.name": "preferred_username"}],
      ["given name", "oidc-usermodel-attribute-mapper", {"user.attribute": "firstName", "claim.name": "given_name"}],
      ["family name", "oidc-usermodel-attribute-mapper", {"user.attribute": "lastName", "claim.name": "family_name"}],
      ["middle name", "oidc-usermodel-attribute-mapper", {"user.attribute": "middleName", "claim.name": "middle_name"}],
      ["nickname", "oidc-usermodel-attribute-mapper", {"user.attribute": "nickname", "claim.name": "nickname"}],
      ["profile", "oidc-usermodel-attribute-mapper", {"user.attribute": "profile", "claim.name": "profile"}],
      ["picture", "oidc-usermodel-attribute-mapper", {"user.attribute": "picture", "claim.name": "picture"}],
      ["website", "oidc-usermodel-attribute-mapper", {"user.attribute": "website", "claim.name": "website"}],
      ["gender", "oidc-usermodel-attribute-mapper", {"user.attribute": "gender", "claim.name": "gender"}],
      ["birthdate", "oidc-usermodel-attribute-mapper", {"user.attribute": "birthdate", "claim.name": "birthdate"}],
      ["zoneinfo", "oidc-usermodel-attribute-mapper", {"user.attribute": "zoneinfo", "claim.name": "zoneinfo"}],
      ["locale", "oidc-usermodel-attribute-mapper", {"user.attribute": "locale", "claim.name": "locale"}],
      ["updated at", "oidc-usermodel-attribute-mapper", {"user.attribute": "updatedAt", "claim.name": "updated_at", "jsonType.label": "long"}]]'),
    ('email', false, 'true', 'E-mail address', '[
      ["email", "oidc-usermodel-attribute-mapper", {"user.attribute": "email", "claim.name": "email"}],
      ["email verified", "oidc-usermodel-property-mapper", {"user.attribute": "emailVerified", "claim.name": "email_verified", "jsonType.label": "boolean"}]]'),
    ('roles', false, 'false', 'Roles and groups, and the clients that they are for', '[
      ["realm roles", "oidc-usermodel-realm-role-mapper", {"claim.name": "realm_access.roles", "multivalued": "true", "id.token.claim": "false", "userinfo.token.claim": "false"}],
      ["client roles", "oidc-usermodel-client-role-mapper", {"claim.name": "resource_access.${client_id}.roles", "multivalued": "true", "id.token.claim": "false", "userinfo.token.claim": "false"}],
      ["groups", "oidc-group-membership-mapper", {"claim.name": "groups", "full.path": "true"}],
      ["audience resolve", "oidc-audience-resolve-mapper", {"id.token.claim": "false", "userinfo.token.claim": "false"}]]'),
    ('web-origins', false, 'false', 'Origins whose pages may use the token', '[
      ["allowed web origins", "oidc-allowed-origins-mapper", {"id.token.claim": "false", "userinfo.token.claim": "false"}]]'),
    ('acr', false, 'false', 'How the user was authenticated', '[
      ["acr loa level", "oidc-acr-mapper", {"userinfo.token.claim": "false"}]]'),
    ('address', true, 'true', 'Postal address', '[["address", "oidc-address-mapper", {}]]'),
    ('phone', true, 'true', 'Telephone number', '[
      ["phone number", "oidc-usermodel-attribute-mapper", {"user.attribute": "phoneNumber", "claim.name": "phone_number"}],
      ["phone number verified", "oidc-usermodel-attribute-mapper", {"user.attribute": "phoneNumberVerified", "claim.name": "phone_number_verified", "jsonType.label": "boolean"}]]'),
    ('offline_access', true, 'true', 'Sessions that outlast the browser', '[]'),
    ('microprofile-jwt', true, 'false', 'Claims of MicroProfile JWT', '[
      ["upn", "oidc-usermodel-attribute-mapper", {"user.attribute": "username", "claim.name": "upn"}]]')
  ) as t (name, optional, shown, description, mappers) loop
    insert into client_scope (realm_id, name, description, attributes)
      values (realm, item.name, item.description, jsonb_build_object('include.in.token.scope', item.shown))
      on conflict (realm_id, name) do nothing returning id into made;
    continue when made is null;
    insert into realm_client_scope values (realm, made, item.optional);
    insert into protocol_mapper (scope, name, type, config)
      select made, m->>0, m->>1, '{"id.token.claim": "true", "access.token.claim": "true", "userinfo.token.claim": "true"}'::jsonb || (m->2)
      from jsonb_array_elements(item.mappers::jsonb) m;
    made := null;
  end loop;
end
$$;
select add_built_in_scopes(id) from realm;
insert into client_client_scope (client, scope, optional)
  select c.id, r.scope, r.optional from client c join realm_client_scope r on r.realm_id = c.realm_id;
-- What the scripts and notebooks of a deployment log in with: their tokens go to its services.
insert into protocol_mapper (client, name, type, config)
  select id, 'platform services', 'oidc-audience-mapper',
    '{"included.custom.audience": "swath-platform", "access.token.claim": "true", "id.token.claim": "false"}'
  from client where client_id = 'admin-cli';
