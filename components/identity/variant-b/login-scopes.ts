import { ADMIN_ROLE } from "../realms/create-realm.ts";
import { publishChange } from "../store/changes.ts";
import { insertClientScope, assignScope, insertMapper, listClientScopes } from "../store/client-scopes.ts";
import type { Queryable } from "../store/database.ts";
import type { Realm } from "../store/realms.ts";

interface LoginScope {
  readonly name: string;
  readonly description: string;
  readonly mapper?: { readonly name: string; readonly type: string; readonly config: Readonly<Record<string, string>> };
}

const EVERYWHERE = { "access.token.claim": "true", "id.token.claim": "true", "userinfo.token.claim": "true" };

/** Scopes that clients of the login service ask for. */
const LOGIN_SCOPES: readonly LoginScope[] = [
  {
    name: "user_name",
    description: "User name",
    mapper: {
      name: "user name",
      type: "oidc-usermodel-attribute-mapper",
      config: { ...EVERYWHERE, "user.attribute": "username", "claim.name": "user_name" },
    },
  },
  {
    name: "is_operator",
    description: "Whether the user operates the platform",
    mapper: {
      name: "is operator",
      type: "swath-has-realm-role-mapper",
      config: { ...EVERYWHERE, role: ADMIN_ROLE, "claim.name": "isOperator" },
    },
  },
  { name: "permission", description: "Permissions of resources" },
  { name: "uma_protection", description: "Protecting resources" },
];

export const LOGIN_SCOPE_NAMES: readonly string[] = LOGIN_SCOPES.map(({ name }) => name);

/** Makes the scopes of the login service in a realm, as optional ones of every client. What people changed of them stays. */
export async function ensureLoginScopes(db: Queryable, realm: Realm): Promise<void> {
  const known = new Set((await listClientScopes(db, realm.id)).map(({ name }) => name));
  const missing = LOGIN_SCOPES.filter(({ name }) => !known.has(name));
  for (const { name, description, mapper } of missing) {
    const id = await insertClientScope(db, realm.id, {
      name,
      description,
      protocol: "openid-connect",
      attributes: { "include.in.token.scope": "true" },
    });
    await assignScope(db, { kind: "realm", id: realm.id }, id, true);
    // Clients that were there before, the administration client among them, may ask for it, too.
    await db.query(
      `insert into client_client_scope (client, scope, optional) select id, $2, true from client where realm_id = $1
       on conflict do nothing`,
      [realm.id, id],
    );
    if (mapper !== undefined) {
      await insertMapper(db, { kind: "scope", id }, mapper);
    }
  }
  if (missing.length > 0) {
    await publishChange(db, { kind: "realm", realm: realm.name });
  }
}
