import { CommandError } from "../../commands/command.ts";
import { readDeployment } from "../defaults.ts";
import type { Helper } from "../helper.ts";
import { formatClient } from "./client-file.ts";
import { openLoginSession } from "./login-session.ts";
import { registerClient } from "./register.ts";

const USAGE = `Usage: register-client <auth-host> <client-name> [<redirect-uri> [<logout-uri>]]

Registers a client of the login service (variant B) and prints its id and secret, in the two lines of client.yaml:

  register-client auth.<domain> MyClient https://my.example.org/callback/ > client.yaml

On the machine of the deployment the client is registered by the administrator, as one of the platform's. From elsewhere it
registers itself: people then agree to each login with it, and it cannot act for itself.

  --cluster <name>     deployment that is meant, where there are several
`;

/** deploy/bin/register-client of variant B */
export const registerClientHelper: Helper = async (context) => {
  const [host = "", name = "", redirect, logout, ...more] = context.args;
  if (["-h", "--help"].includes(host)) {
    context.stdout.write(USAGE);
    return;
  }
  if (host === "" || name === "" || more.length > 0) {
    throw new CommandError(
      `${host === "" || name === "" ? "the host or the client's name is missing" : "too many arguments"}\n\n${USAGE}`,
    );
  }
  const deployment = await readDeployment(context, host.replace(/^https?:\/\//, "").replace(/^[^.]*\.|[:/].*$/g, ""));
  const own = deployment.url("identity");
  const isOwn = [new URL(own).host, new URL(own).hostname, own].includes(host.replace(/\/+$/, ""));
  const address = isOwn ? own : /^https?:\/\//.test(host) ? host.replace(/\/+$/, "") : `https://${host}`;
  if (!URL.canParse(address) || new URL(address).pathname !== "/") {
    throw new CommandError(`${JSON.stringify(host)} is not a host; write it like auth.example.org`);
  }
  const registration = {
    login: address,
    provider: deployment.loginProvider,
    name,
    redirectUris: redirect ? [redirect] : [],
    logoutUris: logout ? [logout] : [],
  };
  const client = await registerClient(
    registration,
    isOwn && deployment.variant === "B" && (await deployment.readAdminPassword()) !== undefined
      ? { session: openLoginSession(context, deployment) }
      : { fetch: deployment.fetch },
  );
  context.stdout.write(formatClient(client));
};
