import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { requireScope } from "./caller.ts";

import type { HubContext } from "../context.ts";
import { ProfileFileError } from "../profiles/parse.ts";
import { type ServerRow, findServerById } from "../store/servers.ts";

const MAX_TROUBLE_CHARACTERS = 500;

/** What servers ask for besides what JupyterHub's do: tokens and keys that are good now. */
export function addSwathRoutes(app: FastifyInstance, context: HubContext): void {
  const { sql, callers } = context;

  const serverOf = async (request: FastifyRequest): Promise<ServerRow> => {
    const caller = await callers.require(request);
    const server =
      caller.token?.kind === "server" && caller.token.serverId !== null
        ? await findServerById(sql, caller.token.serverId)
        : undefined;
    if (server === undefined) {
      throw new Problem(403, "This is for servers, with the token of their own (JUPYTERHUB_API_TOKEN).");
    }
    return server;
  };
  const ownerOf = async (request: FastifyRequest): Promise<string> => (await serverOf(request)).user_name;

  // The program that keeps ~/workspace says here what stands in its way, and that nothing does any more.
  app.put<{ Body: { trouble?: unknown } | null }>("/swath/workspace-state", async (request, reply) => {
    const { id } = await serverOf(request);
    const trouble = request.body?.trouble;
    await sql.rows("update servers set workspace_trouble = $2 where id = $1", [
      id,
      typeof trouble === "string" && trouble !== "" ? trouble.slice(0, MAX_TROUBLE_CHARACTERS) : null,
    ]);
    return reply.code(204).send();
  });

  // Profiles as a file: what is kept under version control is put in force by a program.
  app.get("/swath/profiles", async (request) => {
    requireScope(await callers.require(request), "admin:servers", {});
    return context.profiles.text();
  });
  app.put<{ Body: { text?: unknown } | null }>("/swath/profiles", async (request) => {
    const caller = await callers.require(request);
    requireScope(caller, "admin:servers", {});
    const text = request.body?.text;
    if (typeof text !== "string") {
      throw new Problem(400, 'The body is {"text": "profiles: …"}.');
    }
    try {
      await context.profiles.save(text, caller.user?.name ?? caller.service ?? "");
    } catch (error) {
      throw error instanceof ProfileFileError ? new Problem(422, error.message, { cause: error }) : error;
    }
    return {};
  });

  app.get("/swath/environment", async (request) => describeEnvironment(context, await ownerOf(request)));

  // The form that AWS clients take from AWS_CONTAINER_CREDENTIALS_FULL_URI, and ask for again before its end.
  app.get("/swath/s3-credentials", async (request, reply) => {
    const user = await ownerOf(request);
    const login = await context.logins.accessToken(user);
    if (login === undefined) {
      throw loggedOut(user);
    }
    const keys = await context.storageKeys.of(user, login.token);
    return reply.header("cache-control", "no-store").send({
      AccessKeyId: keys.accessKeyId,
      SecretAccessKey: keys.secretAccessKey,
      Token: keys.sessionToken,
      Expiration: keys.expires.toISOString(),
    });
  });
}

/** Who a server works for, where the platform is, and a token that is good for a minute or more. @throws {Problem} 403 */
export async function describeEnvironment(context: HubContext, user: string): Promise<object> {
  const login = await context.logins.accessToken(user);
  if (login === undefined) {
    throw loggedOut(user);
  }
  const keys =
    context.s3 === undefined ? undefined : await context.storageKeys.of(user, login.token).catch(() => undefined);
  return {
    user,
    token: login.token,
    expires: login.expires.toISOString(),
    services: context.services,
    workspace: { name: `${context.workspacePrefix}-${user}`, bucket: `${context.workspacePrefix}-${user}` },
    ...(context.s3 && {
      s3: {
        endpoint: context.s3.url,
        region: context.s3.region,
        ...(keys && {
          access_key: keys.accessKeyId,
          secret_key: keys.secretAccessKey,
          session_token: keys.sessionToken,
          expires: keys.expires.toISOString(),
        }),
      },
    }),
  };
}

const loggedOut = (user: string): Problem =>
  new Problem(403, `${user} is not logged in any more; log in to the hub again, and the server goes on.`);
