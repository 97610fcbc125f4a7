import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { AdminError } from "./errors.ts";
import { forRoles } from "./request.ts";
import { openUser } from "./users.ts";

const ATTRIBUTES = [
  { name: "username", displayName: "User name", required: true },
  { name: "email", displayName: "E-mail", required: false },
  { name: "firstName", displayName: "First name", required: false },
  { name: "lastName", displayName: "Last name", required: false },
] as const;

/** What a user's record has, besides free attributes, and what of it other providers keep elsewhere: nothing. */
export function addUserProfileRoutes(app: FastifyInstance, context: IdentityContext): void {
  const users = "/admin/realms/:realm/users";
  app.get(
    `${users}/profile`,
    forRoles(context, ["view-users", "query-users"], () => ({
      attributes: ATTRIBUTES.map(({ name, displayName, required }) => ({
        name,
        displayName,
        ...(required && { required: { roles: ["admin", "user"] } }),
        permissions: { view: ["admin", "user"], edit: name === "username" ? ["admin"] : ["admin", "user"] },
        multivalued: false,
      })),
      groups: [],
      unmanagedAttributePolicy: "ADMIN_EDIT",
    })),
  );
  app.get(
    `${users}/profile/metadata`,
    forRoles(context, ["view-users", "query-users"], () => ({
      attributes: ATTRIBUTES.map(({ name, displayName, required }) => ({
        name,
        displayName,
        required,
        readOnly: name === "username",
        multivalued: false,
      })),
      groups: [],
    })),
  );
  app.get(
    `${users}/:user/unmanagedAttributes`,
    forRoles(context, ["view-users"], async (request) => (await openUser(request)).attributes),
  );
  for (const path of ["federated-identity", "consents", "configured-user-storage-credential-types"]) {
    app.get(
      `${users}/:user/${path}`,
      forRoles(context, ["view-users"], async (request) => {
        await openUser(request);
        return [];
      }),
    );
  }
  for (const path of ["execute-actions-email", "send-verify-email"]) {
    app.put(
      `${users}/:user/${path}`,
      forRoles(context, ["manage-users"], async (request) => {
        await openUser(request);
        throw new AdminError(400, "This service sends no e-mail: set requiredActions of the user instead");
      }),
    );
  }
  app.get(
    "/admin/realms/:realm/identity-provider/instances",
    forRoles(context, ["view-realm"], () => []),
  );
}
