import { adminRealmPath } from "@swath/manifest/realm-paths";
import { sortForApply, toPlainYaml } from "@swath/kubernetes";

import { CommandError } from "../../commands/command.ts";
import { openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { parseArguments } from "../../config/arguments.ts";
import { formatMistake } from "../../config/report.ts";
import type { Plan } from "../../platform/plan.ts";
import { formatTable } from "../../view/table.ts";
import { type AdminSession, describe } from "../admin-session.ts";
import { chooseCluster } from "../choose-cluster.ts";
import { type Deployment, readDeployment } from "../defaults.ts";
import type { Helper, HelperContext } from "../helper.ts";
import { listContradictions } from "./check-options.ts";
import { clientFile, readClientFile, removeClientFile, writeClientFile } from "./client-file.ts";
import { openLoginSession } from "./login-session.ts";
import { openServiceRules } from "./protect-path.ts";
import { type ProtectedUser, listProtectedPaths, listProtectedServices, listSelfDeciding } from "./protected-paths.ts";
import { registerClient } from "./register.ts";

const USAGE = `Usage: swath-protection.sh <action> <user1-id> <user2-id> <public-ip> <domain>

Protects the processing service, the workspace API and the dummy service for two users (variant B), after the deployment.

  action      apply (default), delete or template
  user1-id    unique ID of the first user, eric by default; the login service shows it: Users, then the user
  user2-id    unique ID of the second user, bob by default
  public-ip   as the main deployment has it; may be empty
  domain      as the main deployment has it; may be empty. It says which deployment is meant; either order is understood

  Users are made in the login service (Users, then Add person), or by deploy/bin/create-user -U eric, which prints the ID.
  --cluster <name>     deployment that is meant, where there are several
`;

const CLIENT_NAME = "SwathClient";
/** Registering again gives the same client, whatever became of client.yaml. */
const SOFTWARE_ID = "swath-protection";

/** deploy/swath/swath-protection.sh */
export const protection: Helper = async (context) => {
  const [action = "apply", first = "", second = "", arg4, arg5, ...more] = context.args;
  if (["-h", "--help"].includes(action)) {
    context.stdout.write(USAGE);
    return;
  }
  if (more.length > 0) {
    throw new CommandError(`too many arguments: ${more.join(" ")}\n\n${USAGE}`);
  }
  if (!["apply", "delete", "template"].includes(action)) {
    throw new CommandError(`ERROR: bad action: ${action}\n\n${USAGE}`);
  }
  const { domain, publicIp, mistakes } = parseArguments({ arg3: arg4, arg4: arg5 });
  if (mistakes.length > 0) {
    throw new CommandError(`${mistakes.map(formatMistake).join("\n")}\n\n${USAGE}`);
  }
  const plan = await readPlan(context, domain);
  const contradictions = listContradictions(plan, { domain, publicIp, env: context.env });
  if (contradictions.length > 0) {
    throw new CommandError(
      `the options contradict the deployment:\n${contradictions.map((line) => `  ${line}`).join("\n")}\nRun it with the options of the deployment, or deploy again with these.`,
    );
  }
  const deployment = await readDeployment(context, domain);
  const session = openLoginSession(context, deployment);
  const admin = `${deployment.url("identity")}${adminRealmPath(plan.settings.variables.IDENTITY_REALM)}`;
  const users = await findUsers(session, admin, [
    ["eric", first],
    ["bob", second],
  ]);
  if (action === "template") {
    context.stdout.write(renderTemplate(plan, users));
    return;
  }
  const rows =
    action === "apply"
      ? await apply({ context, plan, deployment, session, admin, users })
      : await remove({ context, plan, deployment, session, admin, users });
  context.stdout.write(formatTable([["WHAT", "PATH", "USER", "RESULT"], ...rows]));
};

interface Work {
  readonly context: HelperContext;
  readonly plan: Plan;
  readonly deployment: Deployment;
  readonly session: AdminSession;
  readonly admin: string;
  readonly users: readonly ProtectedUser[];
}

type Row = readonly [string, string, string, string];

async function apply(work: Work): Promise<readonly Row[]> {
  const { plan, session, admin, users } = work;
  const { adminUserId, row } = { ...(await ensureClient(work)), adminUserId: await findAdmin(work) };
  const rows: Row[] = [row];
  for (const service of listProtectedServices(plan)) {
    const rules = await openServiceRules(session, admin, service);
    for (const path of listProtectedPaths(plan, users).filter((one) => one.service === service)) {
      rows.push([service, path.path, path.user.name, await rules.protect(path, adminUserId)]);
    }
    // As the known enforcement point: what nobody registered is for everybody who is logged in.
    await rules.setMode("PERMISSIVE");
  }
  return [
    ...rows,
    ...listSelfDeciding(plan).map((service): Row => [service, "/", "", "decides about each record itself"]),
  ];
}

async function remove(work: Work): Promise<readonly Row[]> {
  const { context, plan, session, admin, users } = work;
  const rows: Row[] = [];
  for (const service of listProtectedServices(plan)) {
    const rules = await openServiceRules(session, admin, service);
    await rules.setMode("ENFORCING");
    for (const path of listProtectedPaths(plan, users).filter((one) => one.service === service)) {
      rows.push([service, path.path, path.user.name, await rules.release(path)]);
    }
  }
  const file = clientFile(context.env);
  const client = readClientFile(file);
  if (client !== undefined) {
    const record = await findClient(session, admin, client.id);
    if (record !== undefined) {
      const { status, body } = await session.request("DELETE", `${admin}/clients/${record}`);
      if (status >= 400) {
        throw new CommandError(`client ${client.id} cannot be removed: ${describe(status, body)}`);
      }
    }
    removeClientFile(file);
  }
  return [[CLIENT_NAME, file, "", client === undefined ? "was not there" : "removed"], ...rows];
}

/** The client of client.yaml, registered where there is none or the login service does not know it. */
async function ensureClient({ context, deployment, session, admin }: Work): Promise<{ readonly row: Row }> {
  const file = clientFile(context.env);
  const known = readClientFile(file);
  if (known !== undefined && (await findClient(session, admin, known.id)) !== undefined) {
    return { row: [CLIENT_NAME, file, "", "as it was"] };
  }
  const portal = deployment.url("portal");
  const client = await registerClient(
    {
      login: deployment.url("identity"),
      provider: deployment.loginProvider,
      name: CLIENT_NAME,
      redirectUris: [`${portal}/oidc/callback/`],
      logoutUris: [`${portal}/`],
      softwareId: SOFTWARE_ID,
    },
    { session },
  );
  writeClientFile(file, client);
  return {
    row: [
      CLIENT_NAME,
      file,
      "",
      known === undefined ? "registered" : "registered again: the login service did not know it",
    ],
  };
}

async function findClient(session: AdminSession, admin: string, clientId: string): Promise<string | undefined> {
  const { status, body } = await session.request("GET", `${admin}/clients?clientId=${encodeURIComponent(clientId)}`);
  if (status !== 200 || !Array.isArray(body)) {
    throw new CommandError(`the login service does not list its clients: ${describe(status, body)}`);
  }
  return (body as readonly { readonly id: string }[])[0]?.id;
}

async function findAdmin({ session, admin, deployment }: Work): Promise<string> {
  const name = deployment.adminUser ?? "admin";
  const { body } = await session.request("GET", `${admin}/users?username=${encodeURIComponent(name)}&exact=true`);
  const found = Array.isArray(body) ? (body as readonly { readonly id: string }[])[0] : undefined;
  if (found === undefined) {
    throw new CommandError(`the login service does not know its administrator ${name}`);
  }
  return found.id;
}

/** The users of the IDs; without one the user of the usual name. @throws {CommandError} that shows how users are made and found */
async function findUsers(
  session: AdminSession,
  admin: string,
  desired: readonly (readonly [name: string, id: string])[],
): Promise<readonly ProtectedUser[]> {
  const users: ProtectedUser[] = [];
  const missing: string[] = [];
  for (const [name, id] of desired) {
    const response =
      id === ""
        ? await session.request("GET", `${admin}/users?username=${name}&exact=true`)
        : await session.request("GET", `${admin}/users/${encodeURIComponent(id)}`);
    const found = (Array.isArray(response.body) ? response.body[0] : response.body) as
      | { readonly id?: string; readonly username?: string }
      | undefined;
    if (response.status === 200 && found?.id !== undefined && found.username !== undefined) {
      users.push({ id: found.id, name: found.username });
    } else if (response.status === 200 || response.status === 404) {
      missing.push(id === "" ? `there is no user ${name}` : `there is no user with the ID ${id}`);
    } else {
      throw new CommandError(`the login service does not show its users: ${describe(response.status, response.body)}`);
    }
  }
  if (users.length === 2 && users[0]?.id === users[1]?.id) {
    missing.push("both IDs are those of the same user");
  }
  if (missing.length > 0) {
    const { body } = await session.request("GET", `${admin}/users?max=20`);
    const known = (Array.isArray(body) ? (body as readonly { id: string; username: string }[]) : []).map(
      ({ id, username }) => `  ${id}  ${username}`,
    );
    throw new CommandError(
      [
        ...missing,
        "",
        "Users that there are:",
        ...(known.length === 0 ? ["  none"] : known),
        "",
        "Make users in the login service (Users, then Add person), which shows the unique ID of each, or on this machine:",
        "  deploy/bin/create-user -U eric",
        "  deploy/bin/create-user -U bob",
      ].join("\n"),
    );
  }
  return users;
}

async function readPlan({ env }: HelperContext, domain: string | undefined): Promise<Plan> {
  const plan = await readDeployedPlan(openTarget(await chooseCluster(env, domain), env));
  if (plan.settings.variant !== "B") {
    throw new CommandError(
      "the deployment is of variant A, which protects its services itself; deploy with PLATFORM_VARIANT=B to protect them by this script",
    );
  }
  return plan;
}

/** What apply would protect, as a ConfigMap for those who keep their deployments in a repository. */
function renderTemplate(plan: Plan, users: readonly ProtectedUser[]): string {
  const paths = listProtectedPaths(plan, users).map(({ service, path, user }) => ({
    client: service,
    uri: path,
    owner: user.id,
    scopes: [
      "protected_get",
      "protected_post",
      "protected_put",
      "protected_delete",
      "protected_head",
      "protected_patch",
    ],
  }));
  return sortForApply([
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "resource-protection", namespace: "um" },
      data: { "resources.yaml": toPlainYaml(paths) },
    } as never,
  ])
    .map((object) => `---\n${toPlainYaml(object as never)}`)
    .join("");
}
