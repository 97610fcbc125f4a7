import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import * as openid from "openid-client";

import { describeCause, discover, findPlatform } from "../../client/connect.ts";
import { keepTokens } from "../../client/session.ts";
import { CommandError, type Command, type CommandContext } from "../command.ts";
import { readAll } from "./read-all.ts";

/** The identity service's client for passwords; the commands' own takes none. */
const PASSWORD_CLIENT = "admin-cli";
const SCOPE = "openid profile email offline_access";

export const loginCommand: Command = {
  name: "login",
  summary: "log in to a platform, with a browser anywhere",
  usage: `
Usage: swath login [PLATFORM] [--user NAME --password-file FILE]

PLATFORM is a cluster of this machine or the domain of a platform elsewhere (eo.example.org, https://eo.example.org:8443); default: the
cluster of this machine. Prints an address and a code; open it in any browser, log in there and allow it. What the command is given is
kept in ~/.config/swath/logins.json, readable for you alone, until swath logout.

  --user NAME            without a browser, with a password; for scripts, and users without a second factor
  --password-file FILE   the file that holds it; - reads it from standard input`,
  run: async ({ args, env, stdin, stdout, stderr }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { user: { type: "string" }, "password-file": { type: "string" } },
    });
    if ((values.user === undefined) !== (values["password-file"] === undefined)) {
      throw new CommandError("--user and --password-file go together; without them a browser logs you in", 2);
    }
    if (positionals.length > 1) {
      throw new CommandError("login takes one platform", 2);
    }
    const platform = await findPlatform(env, positionals[0]);
    if (values.user !== undefined) {
      const password = await readPassword(values["password-file"] ?? "", stdin);
      const direct = await discover(platform, PASSWORD_CLIENT);
      const provided = await openid
        .genericGrantRequest(direct, "password", { username: values.user, password, scope: SCOPE })
        .catch(toCommandError);
      await keepTokens(env, platform, values.user, provided, { client: PASSWORD_CLIENT });
      stdout.write(`Logged in to ${platform.address} as ${values.user}\n`);
      return 0;
    }
    const configuration = await discover(platform);
    if (configuration.serverMetadata().device_authorization_endpoint === undefined) {
      throw new CommandError(`${platform.issuer} does not log programs in (no device authorization endpoint)`);
    }
    const started = await openid.initiateDeviceAuthorization(configuration, { scope: SCOPE }).catch(toCommandError);
    stderr.write(
      `Open ${started.verification_uri_complete ?? started.verification_uri}\nand check that the page shows the code ${started.user_code}\n`,
    );
    const tokens = await openid.pollDeviceAuthorizationGrant(configuration, started).catch(toCommandError);
    const claims = tokens.claims();
    const user = claims?.["preferred_username"];
    if (typeof user !== "string") {
      throw new CommandError(`${platform.issuer} does not say who logged in (no preferred_username in the ID token)`);
    }
    await keepTokens(env, platform, user, tokens);
    stdout.write(`Logged in to ${platform.address} as ${user}\n`);
    return 0;
  },
};

async function readPassword(path: string, stdin: CommandContext["stdin"]): Promise<string> {
  const provided = path === "-" ? await readAll(stdin) : await readFile(path, "utf8").catch(() => undefined);
  if (provided === undefined) {
    throw new CommandError(`the password file ${path} cannot be read`);
  }
  return provided.replace(/\r?\n$/, "");
}

function toCommandError(error: unknown): never {
  if (error instanceof openid.ResponseBodyError) {
    throw new CommandError(`the login was not completed: ${error.error_description ?? error.error}`);
  }
  throw new CommandError(`the login was not completed: ${describeCause(error)}`);
}
