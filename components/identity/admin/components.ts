import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { toUuid } from "../store/database.ts";
import { type StoredKey, listKeys } from "../store/keys.ts";
import { notFound } from "./errors.ts";
import { type AdminRequest, forRoles } from "./request.ts";

const KEY_PROVIDER = "org.keycloak.keys.KeyProvider";

/** `/admin/realms/{realm}/components`: the keys that a realm signs with, the one kind of component that there is. */
export function addComponentRoutes(app: FastifyInstance, context: IdentityContext): void {
  const base = "/admin/realms/:realm/components";
  const show = (realmId: string, { kid, alg, status }: StoredKey) => ({
    id: toUuid(kid),
    name: alg === "RS256" ? "rsa-generated" : "ecdsa-generated",
    providerId: alg === "RS256" ? "rsa-generated" : "ecdsa-generated",
    providerType: KEY_PROVIDER,
    parentId: realmId,
    config: {
      kid: [kid],
      algorithm: [alg],
      active: [String(status === "active")],
      enabled: ["true"],
      priority: ["100"],
    },
  });
  const list = async ({ handle, query }: AdminRequest) => {
    const { parent, type, name } = query;
    return (await listKeys(context.pool, handle.realm.id))
      .map((key) => show(handle.realm.id, key))
      .filter(
        (component) =>
          (parent === undefined || parent === handle.realm.id || parent === handle.realm.name) &&
          (type === undefined || type === KEY_PROVIDER) &&
          (name === undefined || component.name === name),
      );
  };
  const open = async (request: AdminRequest) => {
    const found = (await list({ ...request, query: {} })).find(({ id }) => id === request.params["component"]);
    if (found === undefined) {
      throw notFound("Component");
    }
    return found;
  };
  app.get(base, forRoles(context, ["view-realm"], list));
  app.get(`${base}/:component`, forRoles(context, ["view-realm"], open));
  app.get(
    `${base}/:component/sub-component-types`,
    forRoles(context, ["view-realm"], async (request) => {
      await open(request);
      return [];
    }),
  );
}
