import { parseArgs } from "node:util";

import { type PlatformSecret, identityAdminPassword, listTestUsers } from "@swath/manifest";

import { ROTATE_HELP } from "../../rotation/usage.ts";
import type { Plan } from "../../platform/plan.ts";
import type { Target } from "../../targets/target.ts";
import { formatTable } from "../../view/table.ts";
import type { Command } from "../command.ts";
import { openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { outputOption, wantsJson } from "../output-option.ts";

interface Credential {
  readonly what: string;
  readonly user: string;
  readonly secret: PlatformSecret;
}

export const credentialsCommand: Command = {
  name: "credentials",
  summary: "show users and passwords of the deployment, or change them",
  usage: `
Usage: swath credentials [CLUSTER] [-o json]
       swath credentials rotate [WHAT] [CLUSTER] [--keep-old]

Shows only what this deployment has. Passwords are those of the variables, or were made for this cluster.

${ROTATE_HELP}`,
  run: async (context) => {
    const { args, env, stdout } = context;
    if (args[0] === "rotate") {
      const { rotateCredentials } = await import("../deployment/rotate-credentials.ts");
      return rotateCredentials({ ...context, args: args.slice(1) });
    }
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: outputOption,
    });
    const asJson = wantsJson(values);
    const target = openTarget(positionals[0], env);
    const plan = await readDeployedPlan(target);
    const rows = await readCredentials(target, plan);
    stdout.write(
      asJson
        ? `${JSON.stringify(rows, null, 2)}\n`
        : rows.length === 0
          ? "this deployment has no users\n"
          : formatCredentials(rows),
    );
    return 0;
  },
};

interface ReadCredential {
  readonly what: string;
  readonly user: string;
  readonly password: string;
}

/** Users of a deployment with their passwords. */
export async function readCredentials(target: Target, plan: Plan): Promise<readonly ReadCredential[]> {
  const rows: ReadCredential[] = [];
  for (const { what, user, secret } of listCredentials(plan)) {
    rows.push({ what, user, password: await target.readSecret(secret) });
  }
  return rows;
}

/** A table for people. */
export function formatCredentials(rows: readonly ReadCredential[], indent = ""): string {
  const cells = rows.map(({ what, user, password }) => [what, user, password]);
  return formatTable([["WHERE", "USER", "PASSWORD"], ...cells], { indent });
}

/** Users of the deployed consoles, as the specification lists them. */
function listCredentials({ components, settings, settings: { variables } }: Plan): readonly Credential[] {
  const has = (name: string) => components.some((component) => component.name === name);
  return [
    ...(has("identity")
      ? [
          {
            what: settings.variant === "B" ? "login service" : "identity service",
            user: variables.IDENTITY_SERVICE_ADMIN_USER,
            secret: identityAdminPassword(settings),
          },
          ...listTestUsers(variables).map(({ name, password }) => ({
            what: "test user",
            user: name,
            secret: password,
          })),
        ]
      : []),
    ...(has("objstore")
      ? [
          { what: "object storage", user: variables.OBJSTORE_ROOT_USER, secret: variables.OBJSTORE_ROOT_PASSWORD },
          { what: "object storage, encryption at rest", user: "", secret: variables.OBJSTORE_ENCRYPTION_KEYS },
        ]
      : []),
    ...(has("registry") ? [{ what: "image registry", user: "admin", secret: variables.REGISTRY_ADMIN_PASSWORD }] : []),
  ];
}
