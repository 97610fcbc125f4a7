import { adminRealmPath } from "@swath/manifest/realm-paths";
import { parseArgs } from "node:util";

import { CommandError } from "../commands/command.ts";
import { createAdminSession, describe } from "./admin-session.ts";
import { findPassword, readAddress, readDeployment } from "./defaults.ts";
import type { Helper } from "./helper.ts";

const USAGE = `Usage: create-user -U <user> [-P <password>] [option ...]

Creates a user of the identity service. One who exists already is left alone.

  -U <user>           name of the new user
  -P <password>       password of the new user; asked for on a terminal when left out
  -a <auth_server>    address of the identity service (default: the scripted deployment's)
  -r <realm>          realm (default: master)
  -c <client>         client for the administrator's login (default: admin-cli)
  -u <admin-user>     administrator (default: admin)
  -p <admin-password> (default: IDENTITY_SERVICE_ADMIN_PASSWORD, the scripted deployment's, or asked for on a terminal)
  --cluster <name>    deployment whose addresses are the defaults
  -h                  this text
`;

const text = (short: string) => ({ type: "string", short }) as const;

/** deploy/bin/create-user */
export const createUser: Helper = async (context) => {
  const { values } = parseArgs({
    args: [...context.args],
    options: {
      user: text("U"),
      password: text("P"),
      "auth-server": text("a"),
      realm: text("r"),
      client: text("c"),
      "admin-user": text("u"),
      "admin-password": text("p"),
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    context.stdout.write(USAGE);
    return;
  }
  const name = values.user;
  if (name === undefined || name === "") {
    throw new CommandError(`the name of the new user is missing: -U <user>\n\n${USAGE}`);
  }
  const deployment = await readDeployment(context);
  const authServer = readAddress(values["auth-server"] ?? deployment.url("identity"), "-a");
  const realm = values.realm ?? deployment.realm ?? "master";
  const user = values["admin-user"] ?? deployment.adminUser ?? "admin";
  const password = await findPassword(context, name, { provided: values.password, known: undefined, option: "-P" });
  const session = createAdminSession({
    authServer,
    realm,
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
  const { status, body } = await session.request("POST", `${authServer}${adminRealmPath(realm)}/users`, {
    username: name,
    enabled: true,
    credentials: [{ type: "password", value: password, temporary: false }],
  });
  if (status !== 201 && status !== 409) {
    throw new CommandError(`user ${name} cannot be created: ${describe(status, body)}`);
  }
  context.stdout.write(status === 201 ? `created user ${name}\n` : `user ${name} exists already\n`);
  if (deployment.variant === "B") {
    // What the protection script and create-workspace ask for.
    const found = await session.request(
      "GET",
      `${authServer}${adminRealmPath(realm)}/users?username=${encodeURIComponent(name)}&exact=true`,
    );
    const [user] = Array.isArray(found.body) ? (found.body as readonly { readonly id: string }[]) : [];
    context.stdout.write(`user-id: ${user?.id ?? ""}\n`);
  }
};
