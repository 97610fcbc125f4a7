import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import type { AccountRoutesDeps } from "./account-routes.ts";
import { Name, Policy, checkPolicy, toRoleJson } from "./json.ts";

const Claim = Type.String({ minLength: 1, maxLength: 200 });
const Value = Type.String({ maxLength: 1000 });
const RoleBody = Type.Object(
  {
    policy: Policy,
    claim: Type.Optional(Claim),
    /** One value, the same as a list of one. */
    value: Type.Optional(Value),
    values: Type.Optional(Type.Array(Value, { maxItems: 10_000 })),
  },
  { additionalProperties: false },
);

/** Roles: what holders of identity tokens may become. */
export function addRoleRoutes(
  app: FastifyInstance,
  { store, requireRoot }: Pick<AccountRoutesDeps, "store" | "requireRoot">,
): void {
  app.get("/api/roles", (request) => {
    requireRoot(request);
    return { roles: store.accounts.listRoles().map(toRoleJson) };
  });
  app.get<{ Params: { name: string } }>("/api/roles/:name", (request) => {
    requireRoot(request);
    const role = store.accounts.findRole(request.params.name);
    if (role === undefined) {
      throw new Problem(404, `There is no role ${request.params.name}.`);
    }
    return toRoleJson(role);
  });
  app.put<{ Params: { name: string }; Body: Static<typeof RoleBody> }>(
    "/api/roles/:name",
    { schema: { params: Type.Object({ name: Name }), body: RoleBody } },
    async (request, reply) => {
      requireRoot(request);
      const policy = JSON.stringify(request.body.policy);
      checkPolicy(policy);
      const { claim = null, value, values } = request.body;
      const requested = values ?? (value === undefined ? undefined : [value]);
      if ((claim === null) !== (requested === undefined) || (value !== undefined && values !== undefined)) {
        throw new Problem(
          400,
          "A role has a claim and its value (or values), or neither: then it fits every token of the issuer.",
        );
      }
      await store.accounts.putRole({ name: request.params.name, policy, claim, values: requested ?? [] });
      return reply.code(204).send();
    },
  );
  app.delete<{ Params: { name: string } }>("/api/roles/:name", async (request, reply) => {
    requireRoot(request);
    if (!(await store.accounts.deleteRole(request.params.name))) {
      throw new Problem(404, `There is no role ${request.params.name}.`);
    }
    return reply.code(204).send();
  });
}
