import { type Identity, identityOf } from "@swath/auth";

import type { AssignmentKind } from "../policy/assignments.ts";
import type { Client } from "../store/clients.ts";
import type { Queryable } from "../store/database.ts";
import { findGroup, listGroups } from "../store/groups.ts";
import { listAccessOfGroups, listAccessOfRoles, listAllRoles } from "../store/roles.ts";
import { type UserWithAccess, countUsers, findUserWithAccess, listUsersWithAccess } from "../store/users.ts";
import { identityAt } from "./evaluate-page.ts";

/** Somebody who may use resources or not: a user, or whoever has just this group or this role. */
export interface Holder {
  readonly id: string;
  readonly name: string;
  /** Groups of a user, the client of a role. */
  readonly about: string;
  readonly identity: Identity;
  readonly enabled: boolean;
}

interface Place {
  readonly db: Queryable;
  readonly realmId: string;
  readonly client: Client;
}

export interface HolderPage {
  readonly total: number;
  readonly holders: readonly Holder[];
}

/** Some users, groups or roles by name. */
export async function listHolders(
  { db, realmId, client }: Place,
  kind: AssignmentKind,
  { search, first, max }: { readonly search: string; readonly first: number; readonly max: number },
): Promise<HolderPage> {
  if (kind === "users") {
    const filter = search === "" ? {} : { search };
    const [total, users] = await Promise.all([
      countUsers(db, realmId, filter),
      listUsersWithAccess(db, realmId, { ...filter, first, max }),
    ]);
    return { total, holders: users.map((user) => ofUser(client, user)) };
  }
  const fits = (name: string) => name.toLowerCase().includes(search.toLowerCase());
  if (kind === "groups") {
    const groups = (await listGroups(db, realmId)).filter(({ path }) => fits(path));
    const shown = groups.slice(first, first + max);
    const access = await listAccessOfGroups(
      db,
      shown.map(({ id }) => id),
    );
    return {
      total: groups.length,
      holders: shown.map(({ id, path }) => ofRoles(id, path, "", access.get(id), [path])),
    };
  }
  const roles = (await listAllRoles(db, realmId)).filter(
    ({ name, client: of }) => (of === undefined || of === client.id) && fits(name),
  );
  const shown = roles.slice(first, first + max);
  const access = await listAccessOfRoles(
    db,
    shown.map(({ id }) => id),
  );
  return {
    total: roles.length,
    holders: shown.map(({ id, name, clientId }) =>
      ofRoles(id, name, clientId === undefined ? "realm" : `client ${clientId}`, access.get(id), []),
    ),
  };
}

/** One of them, by its id. */
export async function findHolder(
  { db, realmId, client }: Place,
  kind: AssignmentKind,
  id: string,
): Promise<Holder | undefined> {
  switch (kind) {
    case "users": {
      const found = await findUserWithAccess(db, realmId, id);
      return found && ofUser(client, found);
    }
    case "groups": {
      const group = await findGroup(db, realmId, id);
      return group && ofRoles(id, group.path, "", (await listAccessOfGroups(db, [id])).get(id), [group.path]);
    }
    case "roles": {
      const role = (await listAllRoles(db, realmId)).find((candidate) => candidate.id === id);
      return role && ofRoles(id, role.name, role.clientId ?? "realm", (await listAccessOfRoles(db, [id])).get(id), []);
    }
  }
}

const ofUser = (client: Client, found: UserWithAccess): Holder => ({
  id: found.user.id,
  name: found.user.username,
  about: found.access.groups.join(", "),
  identity: identityAt(client, found),
  enabled: found.user.enabled,
});

/** Nobody in particular, so that policies about users say no. */
function ofRoles(
  id: string,
  name: string,
  about: string,
  roles: readonly { readonly name: string; readonly clientId: string | undefined }[] = [],
  groups: readonly string[],
): Holder {
  const clients = [...new Set(roles.flatMap(({ clientId }) => clientId ?? []))];
  const of = (clientId: string | undefined) =>
    roles.filter((role) => role.clientId === clientId).map((role) => role.name);
  const identity = identityOf({
    groups,
    realm_access: { roles: of(undefined) },
    resource_access: Object.fromEntries(clients.map((clientId) => [clientId, { roles: of(clientId) }])),
  });
  return { id, name, about, identity, enabled: true };
}
