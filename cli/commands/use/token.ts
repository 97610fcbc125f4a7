import { parseArgs } from "node:util";

import { PLATFORM_HELP, openSession, platformOption } from "../../client/session.ts";
import type { Command } from "../command.ts";

export const tokenCommand: Command = {
  name: "token",
  summary: "print an access token, for curl and other programs",
  usage: `
Usage: swath token

Prints a token that is good for a minute or more: curl -H "authorization: Bearer $(swath token)" …
${PLATFORM_HELP}`,
  run: async ({ args, env, stdout }) => {
    const { values } = parseArgs({ args: [...args], options: platformOption });
    const session = await openSession(env, values.platform);
    stdout.write(`${await session.token()}\n`);
    return 0;
  },
};
