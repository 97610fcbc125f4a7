import { parseArgs } from "node:util";

import * as openid from "openid-client";

import { describeCause, discover, findPlatform } from "../client/connect.ts";
import { keepTokens } from "../client/session.ts";
import { CommandError, type Command } from "./command.ts";

const SCOPE = "openid profile email offline_access";

export const loginCommand: Command = {
  name: "login",
  summary: "log in to a platform, with a browser anywhere",
  usage: `
Usage: swath login [PLATFORM]

PLATFORM is a cluster of this machine or the domain of a platform elsewhere (eo.example.org, https://eo.example.org:8443); default: the
cluster of this machine. Prints an address and a code; open it in any browser, log in there and allow it. What the command is given is
kept in ~/.config/swath/logins.json, readable for you alone, until swath logout.`,
  run: async ({ args, env, stdout, stderr }) => {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    if (positionals.length > 1) {
      throw new CommandError("login takes one platform", 2);
    }
    const platform = await findPlatform(env, positionals[0]);
    const configuration = await discover(platform);
    if (configuration.serverMetadata().device_authorization_endpoint === undefined) {
      throw new CommandError(`${platform.issuer} does not log programs in (no device authorization endpoint)`);
    }
    const begun = await openid.initiateDeviceAuthorization(configuration, { scope: SCOPE }).catch(toCommandError);
    stderr.write(
      `Open ${begun.verification_uri_complete ?? begun.verification_uri}\nand check that the page shows the code ${begun.user_code}\n`,
    );
    const tokens = await openid.pollDeviceAuthorizationGrant(configuration, begun).catch(toCommandError);
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

function toCommandError(error: unknown): never {
  if (error instanceof openid.ResponseBodyError) {
    throw new CommandError(`the login was not completed: ${error.error_description ?? error.error}`);
  }
  throw new CommandError(`the login was not completed: ${describeCause(error)}`);
}
