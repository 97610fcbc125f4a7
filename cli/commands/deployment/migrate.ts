import { parseArgs } from "node:util";

import { type PlatformSettings, usesCloud } from "@swath/manifest";

import { createAdminSession } from "../../helpers/admin-session.ts";
import { readDeployment } from "../../helpers/defaults.ts";
import { migrateToA } from "../../migrate/b-to-a.ts";
import { listNotImported, migrateKeycloak } from "../../migrate/keycloak.ts";
import { readKeycloakExport } from "../../migrate/keycloak-export.ts";
import { formatTable } from "../../view/table.ts";
import { type Command, type CommandContext, CommandError } from "../command.ts";
import { outputOption, wantsJson } from "../output-option.ts";
import { openTarget, readDeployedPlan } from "../../targets/open-target.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "move a deployment of variant B to variant A, or users of a Keycloak to a deployment",
  usage: `
Usage: swath migrate b-to-a [CLUSTER] [--dry-run]
       swath migrate keycloak EXPORT [CLUSTER] [--from REALM] [--realm REALM] [--administrators] [-o json]

b-to-a: both variants keep users with their passwords, clients with their secrets, and workspaces in the same places. The command brings
over what differs: policies, and that paths which nobody registered are closed. Then deploy the same cluster as variant A; the
last lines say how. It may be run again. Everybody logs in anew afterwards, since tokens of variant A have another issuer.

  --dry-run         say what would become of users, clients, policies and workspaces, and change nothing

keycloak: EXPORT is what \`bin/kc.sh export --realm REALM --file EXPORT\` of a Keycloak wrote, or the folder of \`--dir\`. Users come over
with their ids (\`sub\`), passwords, one-time codes, attributes, groups and roles; so do roles, groups, client scopes and clients with
their secrets. What cannot be taken over is listed with the reason. It may be run again: what is there stays as it is.

  --from REALM      which realm of the export, where it has several
  --realm REALM     which realm of the deployment, made where it is not there; default: the deployment's own
  --administrators  who administered the realm administers the deployment's realm, too; else such roles are left out
  -o json           everything that was left out, for programs`,
  run: async (context) => {
    const { values, positionals } = parseArgs({
      args: [...context.args],
      allowPositionals: true,
      options: {
        "dry-run": { type: "boolean", default: false },
        from: { type: "string" },
        realm: { type: "string" },
        administrators: { type: "boolean", default: false },
        ...outputOption,
      },
    });
    const [what, ...names] = positionals;
    if (what === "b-to-a" && names.length < 2) {
      return runBToA(context, names[0], values["dry-run"]);
    }
    const [path, cluster, ...more] = names;
    if (what === "keycloak" && path !== undefined && more.length === 0) {
      return runKeycloak(context, { ...values, path, cluster, isJson: wantsJson(values) });
    }
    throw new CommandError(
      "what is to be moved? swath migrate b-to-a [CLUSTER] [--dry-run], or swath migrate keycloak EXPORT [CLUSTER]",
      2,
    );
  },
};

async function runBToA(
  { env, stdout, stderr }: CommandContext,
  cluster: string | undefined,
  isDryRun: boolean,
): Promise<number> {
  const { settings, routes, components } = await readDeployedPlan(openTarget(cluster ?? env["SWATH_CLUSTER"], env));
  if (settings.variant !== "B") {
    throw new CommandError("the deployment is of variant A already; there is nothing to move");
  }
  if (!components.some(({ name }) => name === "identity")) {
    throw new CommandError("the deployment has no login service: there are no users or policies of it to move");
  }
  const { deployment, login, session } = await openAdministration({ env, stdout, stderr, cluster, settings });
  const hasWorkspaces = routes.some(({ service }) => service === "workspace-api");
  const rows = await migrateToA({
    session,
    login,
    realm: settings.variables.IDENTITY_REALM,
    workspaces: hasWorkspaces ? deployment.url("workspace-api") : undefined,
    isDryRun,
  });
  stdout.write(formatTable([["WHAT", "NAME", isDryRun ? "WOULD" : "RESULT"], ...rows]));
  stdout.write(nextSteps(settings.clusterName, isDryRun, usesCloud(settings)));
  return 0;
}

interface KeycloakArguments {
  readonly path: string;
  readonly cluster: string | undefined;
  readonly from?: string | undefined;
  readonly realm?: string | undefined;
  readonly administrators: boolean;
  readonly isJson: boolean;
}

async function runKeycloak(
  { env, stdout, stderr }: CommandContext,
  { path, cluster, from, realm: named, administrators, isJson }: KeycloakArguments,
): Promise<number> {
  const exported = readKeycloakExport(path, from);
  const { settings, components } = await readDeployedPlan(openTarget(cluster ?? env["SWATH_CLUSTER"], env));
  if (!components.some(({ name }) => name === "identity")) {
    throw new CommandError("the deployment has no identity service to bring users to");
  }
  const realm = named ?? settings.variables.IDENTITY_REALM;
  const { login, session } = await openAdministration({ env, stdout, stderr, cluster, settings });
  const { realmIsNew, counts, notImported } = await migrateKeycloak({
    session,
    identity: login,
    realm,
    exported,
    withAdministrators: administrators,
    onProgress: (text) => void stderr.write(`${text} ...\n`),
  });
  if (isJson) {
    stdout.write(
      `${JSON.stringify({ realm, realmIsNew, counts: Object.fromEntries(counts), notImported }, undefined, 2)}\n`,
    );
    return 0;
  }
  const rows = [...counts].map(([kind, { added, present }]) => [kind, String(added), String(present)]);
  stdout.write(formatTable([["WHAT", "ADDED", "THERE ALREADY"], ...rows]));
  if (notImported.length > 0) {
    stdout.write(
      `\nNot taken over:\n${listNotImported(notImported)
        .map((line) => `  ${line}\n`)
        .join("")}`,
    );
  }
  stdout.write(`\nUsers log in to realm ${realm} with the passwords that they have.\n`);
  return 0;
}

interface Administration extends Pick<CommandContext, "env" | "stdout" | "stderr"> {
  readonly cluster: string | undefined;
  readonly settings: PlatformSettings;
}

/** A session of the deployment's administrator at its identity service. */
async function openAdministration({ env, stdout, stderr, cluster, settings: { variables } }: Administration) {
  const deployment = await readDeployment({
    args: [],
    env: { ...env, ...(cluster !== undefined && { SWATH_CLUSTER: cluster }) },
    stdout,
    terminal: NOBODY,
  });
  const login = deployment.url("identity");
  const session = createAdminSession({
    authServer: login,
    realm: variables.IDENTITY_REALM,
    client: variables.IDENTITY_SERVICE_ADMIN_CLIENT,
    user: variables.IDENTITY_SERVICE_ADMIN_USER,
    readPassword: async () => {
      const password = await deployment.readAdminPassword();
      if (password === undefined) {
        throw new CommandError(
          "the administrator's password is missing: set IDENTITY_SERVICE_ADMIN_PASSWORD (variant B: LOGIN_SERVICE_ADMIN_PASSWORD)",
        );
      }
      return password;
    },
    print: (text) => void stderr.write(`${text}\n`),
    fetch: deployment.fetch,
  });
  return { deployment, login, session };
}

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
