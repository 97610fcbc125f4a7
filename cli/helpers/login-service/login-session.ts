import { type Deployment, findPassword } from "../defaults.ts";
import { type AdminSession, createAdminSession } from "../admin-session.ts";
import type { HelperContext } from "../helper.ts";

/** A session of the login service's administrator, whose password is that of the deployment, the environment or the terminal. */
export function openLoginSession(context: HelperContext, deployment: Deployment): AdminSession {
  const user = deployment.adminUser ?? "admin";
  return createAdminSession({
    authServer: deployment.url("identity"),
    realm: deployment.realm ?? "master",
    client: deployment.adminClient ?? "admin-cli",
    user,
    readPassword: async () =>
      findPassword(context, user, {
        provided: undefined,
        known: await deployment.readAdminPassword(),
        option: "LOGIN_SERVICE_ADMIN_PASSWORD",
      }),
    print: context.terminal.print,
    fetch: deployment.fetch,
  });
}
