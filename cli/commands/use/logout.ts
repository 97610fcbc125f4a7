import { parseArgs } from "node:util";

import * as openid from "openid-client";

import { describeCause, discover, findPlatform } from "../../client/connect.ts";
import { readLogin, removeLogin } from "../../client/login-file.ts";
import { CommandError, type Command } from "../command.ts";

export const logoutCommand: Command = {
  name: "logout",
  summary: "end a login and forget it",
  usage: `
Usage: swath logout [PLATFORM]

Default: the platform that was logged in to last.`,
  run: async ({ args, env, stdout, stderr }) => {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    const [name] = positionals;
    const login = await readLogin(env, name === undefined ? undefined : (await findPlatform(env, name)).address);
    if (login === undefined) {
      throw new CommandError(name === undefined ? "you are not logged in" : `you are not logged in at ${name}`);
    }
    try {
      const platform = await findPlatform(env, login.platform, login);
      await openid.tokenRevocation(await discover(platform), login.refreshToken);
    } catch (error) {
      // Forgotten here all the same; the identity service ends it by itself later.
      stderr.write(`the identity service was not told: ${describeCause(error)}\n`);
    }
    await removeLogin(env, login.platform);
    stdout.write(`Logged out of ${login.platform}\n`);
    return 0;
  },
};
