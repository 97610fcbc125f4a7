import { parseArgs } from "node:util";

import { usesCloud } from "@swath/manifest";

import { createAdminSession } from "../../helpers/admin-session.ts";
import { readDeployment } from "../../helpers/defaults.ts";
import { migrateToA } from "../../migrate/b-to-a.ts";
import { formatTable } from "../../view/table.ts";
import { CommandError, type Command } from "../command.ts";
import { openTarget, readDeployedPlan } from "../../targets/open-target.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "move a deployment of variant B to variant A",
  usage: `
Usage: swath migrate b-to-a [CLUSTER] [--dry-run]

  --dry-run   say what would become of users, clients, policies and workspaces, and change nothing

Both variants keep users with their passwords, clients with their secrets, and workspaces in the same places. The command brings
over what differs: policies, and that paths which nobody registered are closed. Then deploy the same cluster as variant A; the
last lines say how. It may be run again. Everybody logs in anew afterwards, since tokens of variant A have another issuer.`,
  run: async ({ args, env, stdout, stderr }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { "dry-run": { type: "boolean", default: false } },
    });
    const [what, cluster, ...more] = positionals;
    if (what !== "b-to-a" || more.length > 0) {
      throw new CommandError("what is to be moved? swath migrate b-to-a [CLUSTER] [--dry-run]", 2);
    }
    const target = openTarget(cluster ?? env["SWATH_CLUSTER"], env);
    const { settings, routes, components } = await readDeployedPlan(target);
    if (settings.variant !== "B") {
      throw new CommandError("the deployment is of variant A already; there is nothing to move");
    }
    if (!components.some(({ name }) => name === "identity")) {
      throw new CommandError("the deployment has no login service: there are no users or policies of it to move");
    }
    const deployment = await readDeployment({
      args: [],
      env: { ...env, ...(cluster !== undefined && { SWATH_CLUSTER: cluster }) },
      stdout,
      terminal: NOBODY,
    });
    const { variables } = settings;
    const login = deployment.url("identity");
    const hasWorkspaces = routes.some(({ service }) => service === "workspace-api");
    const isDryRun = values["dry-run"];
    const rows = await migrateToA({
      session: createAdminSession({
        authServer: login,
        realm: variables.IDENTITY_REALM,
        client: variables.IDENTITY_SERVICE_ADMIN_CLIENT,
        user: variables.IDENTITY_SERVICE_ADMIN_USER,
        readPassword: async () => {
          const password = await deployment.readAdminPassword();
          if (password === undefined) {
            throw new CommandError("the administrator's password is missing: set LOGIN_SERVICE_ADMIN_PASSWORD");
          }
          return password;
        },
        print: (text) => void stderr.write(`${text}\n`),
        fetch: deployment.fetch,
      }),
      login,
      realm: variables.IDENTITY_REALM,
      workspaces: hasWorkspaces ? deployment.url("workspace-api") : undefined,
      isDryRun,
    });
    stdout.write(formatTable([["WHAT", "NAME", isDryRun ? "WOULD" : "RESULT"], ...rows]));
    stdout.write(nextSteps(settings.clusterName, isDryRun, usesCloud(settings)));
    return 0;
  },
};

/** The command asks nobody: what it needs is known of the deployment or in the environment. */
const NOBODY = {
  isInteractive: false,
  send: () => Promise.resolve(""),
  callSecret: () => Promise.resolve(""),
  print: () => {},
};

function nextSteps(cluster: string, isDryRun: boolean, isInCloud: boolean): string {
  return [
    "",
    isDryRun
      ? "Nothing was changed. Without --dry-run it is done; then:"
      : "Now deploy the same cluster as variant A, with the options of this deployment:",
    `  PLATFORM_VARIANT=A IDENTITY_SERVICE_ADMIN_PASSWORD=<password of admin> deploy/swath/swath.sh apply ${cluster}`,
    ...(isInCloud
      ? [
          "Buckets of workspaces are in the cloud: name it to variant A with OBJSTORE_ENDPOINT, OBJSTORE_ROOT_USER and OBJSTORE_ROOT_PASSWORD.",
        ]
      : []),
    "",
  ].join("\n");
}
