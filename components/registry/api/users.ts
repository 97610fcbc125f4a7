import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { addAudit } from "../store/audit.ts";
import {
  type Account,
  createAccountSecret,
  findAccount,
  findAccountById,
  listAccounts,
  revokeAccountSecret,
} from "../store/accounts.ts";
import { type ApiContext, readPage, requireAdmin, requireLogin, setPageHeaders } from "./context.ts";

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

  // Users are those of the identity service who came here once; they are made and changed there.
  app.get("/users", async (request, reply) => {
    await requireAdmin(context, request);
    const page = readPage(request);
    const { q = "" } = request.query as { q?: string };
    const part = /(?:^|,)username=~?([^,]*)/.exec(q)?.[1] ?? "";
    const { accounts, total } = await listAccounts(database, { part, ...page });
    setPageHeaders(request, reply, page, total);
    return accounts.map(toUserJson);
  });

  // Names are shown to the administrator; others learn of a name whether it is a user's, as they do when they make a member of it.
  app.get("/users/search", async (request, reply) => {
    const { kind } = await requireLogin(context, request);
    const { username = "" } = request.query as { username?: string };
    const page = readPage(request);
    const known = kind === "admin" ? undefined : await findAccount(database, username);
    const { accounts, total } =
      kind === "admin"
        ? await listAccounts(database, { part: username, ...page })
        : { accounts: known === undefined ? [] : [known], total: known === undefined ? 0 : 1 };
    setPageHeaders(request, reply, page, total);
    return accounts.map(({ id, username: name }) => ({ user_id: id, username: name }));
  });

  app.get("/users/:id", async (request) => {
    await requireAdmin(context, request);
    const { id } = request.params as { id: string };
    const account = /^\d{1,18}$/.test(id) ? await findAccountById(database, id) : undefined;
    if (account === undefined) {
      throw new Problem(404, "The user does not exist.");
    }
    return toUserJson(account);
  });

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

const toUserJson = ({ id, username, userId, isAdmin, createdAt }: Account) => ({
  user_id: id,
  username,
  realname: username,
  sysadmin_flag: isAdmin,
  admin_role_in_auth: isAdmin,
  creation_time: createdAt.toISOString(),
  oidc_user_meta: { subiss: userId },
});
