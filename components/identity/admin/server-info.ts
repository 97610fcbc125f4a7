import type { FastifyInstance } from "fastify";

import { MAPPER_TYPES } from "../claims/mappers.ts";
import type { IdentityContext } from "../context.ts";
import { DEFAULT_CLIENT_SETTINGS } from "../store/clients.ts";
import { listRealms } from "../store/realms.ts";
import { POLICY_TYPES } from "../store/authz-policies.ts";
import { findActor, findActorOfAnyRealm } from "./authorize.ts";
import { AdminError } from "./errors.ts";
import { forRoles } from "./request.ts";

const provider = (ids: readonly string[]) => ({
  internal: true,
  providers: Object.fromEntries(ids.map((id) => [id, { order: 0 }])),
});

/** What this service is, who asks, and its caches. */
export function addServerInfoRoutes(app: FastifyInstance, context: IdentityContext): void {
  app.get("/admin/serverinfo", async (request) => {
    const { actor } = await findActorOfAnyRealm(context, request);
    if (!actor.may("create-realm") && !actor.may("view-realm")) {
      throw new AdminError(403, "HTTP 403 Forbidden");
    }
    const { heapTotal, heapUsed } = process.memoryUsage();
    return {
      systemInfo: {
        serverTime: new Date().toISOString(),
        uptimeMillis: Date.now() - context.startedAt.getTime(),
        javaVersion: "",
        osName: process.platform,
        osArchitecture: process.arch,
      },
      memoryInfo: {
        total: heapTotal,
        used: heapUsed,
        free: heapTotal - heapUsed,
        totalFormated: `${Math.round(heapTotal / 2 ** 20)} MB`,
        usedFormated: `${Math.round(heapUsed / 2 ** 20)} MB`,
        freePercentage: Math.round((1 - heapUsed / heapTotal) * 100),
      },
      profileInfo: { name: "swath", disabledFeatures: [], previewFeatures: [], experimentalFeatures: [] },
      features: [],
      themes: {},
      socialProviders: [],
      identityProviders: [],
      clientImporters: [],
      providers: {
        "client-authenticator": provider(["client-secret", "client-secret-jwt", "client-jwt"]),
        policy: provider([...POLICY_TYPES, "resource", "scope"]),
        "protocol-mapper": provider(MAPPER_TYPES),
        keys: provider(["rsa-generated", "ecdsa-generated"]),
      },
      protocolMapperTypes: {
        "openid-connect": MAPPER_TYPES.map((id) => ({ id, name: id, category: "Token mapper", properties: [] })),
      },
      builtinProtocolMappers: { "openid-connect": [] },
      clientInstallations: {
        "openid-connect": [
          { id: "keycloak-oidc-keycloak-json", protocol: "openid-connect", mediaType: "application/json" },
        ],
      },
      componentTypes: {},
      passwordPolicies: [],
      enums: { clientSettings: Object.keys(DEFAULT_CLIENT_SETTINGS) },
      cryptoInfo: { cryptoProvider: "openssl", supportedKeystoreTypes: [] },
    };
  });

  app.get("/admin/:realm/console/whoami", async (request) => {
    const { realm } = request.params as { realm: string };
    const actor = await findActor(context, realm, request);
    const all = actor.may("create-realm") ? await listRealms(context.pool) : [];
    const names = actor.may("create-realm") ? all.map(({ name }) => name) : [realm];
    return {
      userId: actor.user.id,
      realm,
      displayName: actor.user.username,
      locale: "en",
      createRealm: actor.may("create-realm"),
      realm_access: Object.fromEntries(names.map((name) => [name, actor.roles])),
    };
  });

  for (const cache of ["realm", "user", "keys", "crl"]) {
    app.post(
      `/admin/realms/:realm/clear-${cache}-cache`,
      forRoles(context, ["manage-realm"], ({ reply }) => {
        context.changes.events.emit("lost");
        return reply.code(204).send();
      }),
    );
  }
}
