import { CommandError } from "../../commands/command.ts";
import type { Fetch } from "../../targets/deployment-fetch.ts";
import { describe } from "../admin-session.ts";
import { readDeployment } from "../defaults.ts";
import type { Helper, HelperContext } from "../helper.ts";
import { waitForWorkspace } from "../wait-for-workspace.ts";
import { clientFile, readClientFile } from "./client-file.ts";

const USAGE = `Usage: create-workspace <domain> <user> <user-id> [<client-id> <client-secret>]

Creates the workspace of a user (variant B). Asks for the administrator's password.

  <domain>         domain of the deployment
  <user>           user name, which the workspace is named after
  <user-id>        unique ID of the user: the login service shows it (Users, then the user), and "deploy/bin/create-user" prints it
  <client-id> <client-secret>
                   client of the login service (default: those in deploy/swath/client.yaml, which swath-protection.sh writes)
`;

const TIMEOUT_MS = 30_000;

/** deploy/bin/create-workspace of variant B */
export const createWorkspaceB: Helper = async (context) => {
  const [domain = "", user = "", userId = "", clientId, clientSecret, ...more] = context.args;
  if (domain === "" || user === "" || userId === "" || more.length > 0 || (clientId && !clientSecret)) {
    throw new CommandError(`expected a domain, a user and the ID of the user\n\n${USAGE}`);
  }
  const file = clientFile(context.env);
  const client = clientId && clientSecret ? { id: clientId, secret: clientSecret } : readClientFile(file);
  if (client === undefined) {
    throw new CommandError(
      `${file} is missing: run deploy/swath/swath-protection.sh apply, which writes it, or give <client-id> <client-secret>`,
    );
  }
  const deployment = await readDeployment(context, domain);
  const isOwn = deployment.domain === domain;
  const addressOf = (service: "auth" | "workspace-api") =>
    isOwn ? deployment.url(service) : `https://${service}.${domain}`;
  const fetch = deployment.fetch;
  const password = await readAdminPassword(context);
  const token = await send(fetch, "POST", `${addressOf("auth")}/${deployment.loginProvider}/restv1/token`, {
    form: {
      scope: "openid user_name is_operator",
      grant_type: "password",
      username: deployment.adminUser ?? "admin",
      password,
      client_id: client.id,
      client_secret: client.secret,
    },
  });
  const { id_token: idToken } = Object(token.body) as { id_token?: unknown };
  if (typeof idToken !== "string") {
    context.terminal.print(`the login service says: ${describe(token.status, token.body)}`);
    throw new CommandError("ERROR: ID token is null");
  }
  const url = `${addressOf("workspace-api")}/workspaces`;
  const { status, body } = await send(fetch, "POST", url, {
    idToken,
    json: { preferred_name: user, default_owner: userId },
  });
  if (status !== 201 && !(status === 422 && JSON.stringify(body).includes("already exists"))) {
    throw new CommandError(`workspace ${user} cannot be created: ${describe(status, body)}`);
  }
  if (status === 201) {
    const { name } = body as { name: string };
    await waitForWorkspace({
      name,
      read: () => send(fetch, "GET", `${url}/${name}`, { idToken }),
      print: context.terminal.print,
    });
  }
  context.stdout.write(`${JSON.stringify(body)}\n`);
};

/** What is typed, or the first line of what a script sends; without either, what the environment says. */
async function readAdminPassword({ env, terminal }: HelperContext): Promise<string> {
  const typed = await terminal.callSecret("admin password> ");
  const password = typed === "" ? (env["LOGIN_SERVICE_ADMIN_PASSWORD"] ?? "") : typed;
  if (password === "") {
    throw new CommandError("the administrator's password is missing");
  }
  return password;
}

interface SendOptions {
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly idToken?: string;
}

async function send(
  fetch: Fetch,
  method: string,
  url: string,
  { form, json, idToken }: SendOptions,
): Promise<{ readonly status: number; readonly body: unknown }> {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: "application/json",
        "cache-control": "no-cache",
        ...(form && { "content-type": "application/x-www-form-urlencoded" }),
        ...(json && { "content-type": "application/json" }),
        ...(idToken !== undefined && { "x-user-id": idToken }),
      },
      ...(form && { body: new URLSearchParams(form).toString() }),
      ...(json && { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? (JSON.parse(text) as unknown) : text };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new CommandError(
      `${new URL(url).origin} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}
