import { parseArgs } from "node:util";

import { CommandError } from "../commands/command.ts";
import { createAdminSession, describe } from "./admin-session.ts";
import { findPassword, readAddress, readDeployment } from "./defaults.ts";
import type { Helper } from "./helper.ts";
import { waitForWorkspace } from "./wait-for-workspace.ts";
import { createWorkspaceB } from "./login-service/create-workspace-b.ts";

const USAGE = `Usage: create-workspace -h | -w <workspace_api> -a <auth_server> -r <realm> -c <client> -u <admin-username> -p <admin-password> -O <owner> -W <workspace-name>

In variant B: create-workspace <domain> <user> <user-id> [<client-id> <client-secret>]

Creates a workspace and waits until it is ready. One that exists already is left alone. At least one of -O and -W must be given.

  -w <workspace_api>   address of the workspace API (default: the scripted deployment's)
  -a <auth_server>     address of the identity service (default: the scripted deployment's)
  -r <realm>           realm (default: master)
  -u <admin-username>  administrator (default: admin)
  -p <admin-password>  (default: IDENTITY_SERVICE_ADMIN_PASSWORD, the scripted deployment's, or asked for on a terminal)
  -c <client>          client for the administrator's login (default: admin-cli)
  -O <owner>           user ID of the owner (default: the workspace name)
  -W <workspace-name>  (default: the owner)
  --no-wait            do not wait until the workspace is ready
  --cluster <name>     deployment whose addresses are the defaults
  -h                   this text
`;

const text = (short: string) => ({ type: "string", short }) as const;

/** deploy/bin/create-workspace */
export const createWorkspace: Helper = async (context) => {
  // Variant B has arguments without options.
  if (context.args[0] !== undefined && !context.args[0].startsWith("-")) {
    return createWorkspaceB(context);
  }
  const { values } = parseArgs({
    args: [...context.args],
    options: {
      "workspace-api": text("w"),
      "auth-server": text("a"),
      realm: text("r"),
      client: text("c"),
      "admin-user": text("u"),
      "admin-password": text("p"),
      owner: text("O"),
      workspace: text("W"),
      "no-wait": { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    context.stdout.write(USAGE);
    return;
  }
  const owner = values.owner || values.workspace;
  const name = values.workspace || values.owner;
  if (owner === undefined || name === undefined || owner === "" || name === "") {
    throw new CommandError(
      `owner and workspace name are both missing: give -O <owner> or -W <workspace-name>\n\n${USAGE}`,
    );
  }
  const deployment = await readDeployment(context);
  const workspaceApi = readAddress(values["workspace-api"] ?? deployment.requireUrl("workspace-api"), "-w");
  const user = values["admin-user"] ?? deployment.adminUser ?? "admin";
  const session = createAdminSession({
    authServer: readAddress(values["auth-server"] ?? deployment.url("identity"), "-a"),
    realm: values.realm ?? deployment.realm ?? "master",
    client: values.client ?? deployment.adminClient ?? "admin-cli",
    user,
    readPassword: async () =>
      findPassword(context, user, {
        provided: values["admin-password"],
        known: values["admin-password"] ?? (await deployment.readAdminPassword()),
        option: "-p",
      }),
    print: context.terminal.print,
    fetch: deployment.fetch,
  });
  const { status, body } = await session.request("POST", `${workspaceApi}/workspaces`, {
    preferred_name: name,
    default_owner: owner,
  });
  if (status !== 201 && !(status === 422 && JSON.stringify(body).includes("already exists"))) {
    throw new CommandError(`workspace ${name} cannot be created: ${describe(status, body)}`);
  }
  if (status !== 201) {
    context.terminal.print(`workspace ${name} exists already; it is left as it is`);
    return;
  }
  if (!values["no-wait"]) {
    const { name: workspace } = body as { name: string };
    await waitForWorkspace({
      name: workspace,
      read: () => session.request("GET", `${workspaceApi}/workspaces/${workspace}`),
      print: context.terminal.print,
    });
  }
  context.stdout.write(`${JSON.stringify(body)}\n`);
};
