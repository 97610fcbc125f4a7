import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { addAudit } from "../store/audit.ts";
import { type Account, createAccountSecret, findAccount, revokeAccountSecret } from "../store/accounts.ts";
import { type ApiContext, requireLogin } from "./context.ts";

/** Who is logged in, and their secret for command lines. */
export function addUserRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  /** Only somebody of the identity service has a secret of this kind. */
  const requireAccount = async (request: FastifyRequest): Promise<Account> => {
    const { kind, name } = await requireLogin(context, request);
    const account = kind === "robot" ? undefined : await findAccount(database, name);
    if (account === undefined) {
      throw new Problem(412, "Only a user of the identity service has a secret for command lines.");
    }
    return account;
  };

  app.get("/users/current", async (request) => {
    const { kind, name } = await requireLogin(context, request);
    const account = kind === "robot" ? undefined : await findAccount(database, name);
    return {
      user_id: account?.id ?? 0,
      username: name,
      realname: name,
      sysadmin_flag: kind === "admin",
      admin_role_in_auth: kind === "admin",
      ...(account !== undefined && {
        creation_time: account.createdAt.toISOString(),
        oidc_user_meta: {
          subiss: account.userId,
          secret_created_at: account.secretCreatedAt?.toISOString() ?? null,
        },
      }),
    };
  });

  // Shown once: the registry keeps its digest alone. It is good until it is replaced or revoked, whatever becomes of tokens.
  app.post("/users/current/cli_secret", async (request, reply) => {
    const { username } = await requireAccount(request);
    const secret = await createAccountSecret(database, username);
    await addAudit(database, {
      actor: username,
      operation: "create",
      project: "",
      resourceType: "secret",
      resource: username,
    });
    return reply.code(201).send({ username, secret });
  });

  app.delete("/users/current/cli_secret", async (request) => {
    const { username } = await requireAccount(request);
    await revokeAccountSecret(database, username);
    await addAudit(database, {
      actor: username,
      operation: "delete",
      project: "",
      resourceType: "secret",
      resource: username,
    });
    return {};
  });
}
