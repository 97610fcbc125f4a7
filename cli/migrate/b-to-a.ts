import { adminRealmPath } from "@swath/manifest/realm-paths";
import { CommandError } from "../commands/command.ts";
import { type AdminSession, describe } from "../helpers/admin-session.ts";
import { type DecisionPolicy, convertPolicy } from "./convert-policy.ts";

interface Migration {
  readonly session: AdminSession;
  /** Address of the login service. */
  readonly login: string;
  readonly realm: string;
  /** Address of the workspace API; undefined where there is none. */
  readonly workspaces: string | undefined;
  /** Only say what would be done. */
  readonly isDryRun: boolean;
}

/** What of one thing, and what becomes of it. */
export type MigrationRow = readonly [what: string, name: string, result: string];

interface Named {
  readonly id: string;
  readonly username?: string;
  readonly clientId?: string;
  readonly name?: string;
}
interface ResourceServer extends Named {
  readonly clientId: string;
  readonly settings: { readonly policyEnforcementMode?: string };
  readonly resources: readonly { readonly _id: string; readonly name: string; readonly scopes: readonly Named[] }[];
}

const PAGE = 500;
const BUILT_IN = ["account", "admin-cli", "security-admin-console", "realm-management", "swath-cli"];

/**
 * Prepares a deployment of variant B for variant A, which keeps the same store: users with their passwords, clients with their secrets and
 * workspaces stay where they are. What differs is brought over: policies become such as variant A's console shows, and a path that nobody
 * registered is closed, as it is there. It may be run again at any time.
 */
export async function migrateToA(migration: Migration): Promise<readonly MigrationRow[]> {
  const { session, login, realm, workspaces } = migration;
  const admin = `${login}${adminRealmPath(realm)}`;
  const users = await listAll(session, `${admin}/users`);
  const clients = (await listAll(session, `${admin}/clients`)).filter(
    ({ clientId = "" }) => !BUILT_IN.includes(clientId),
  );
  const servers = await readServers(session, admin, clients);
  const rows: MigrationRow[] = [
    ...users.map(({ username = "" }): MigrationRow => ["user", username, "stays, with the password"]),
    ...clients.map(({ clientId = "", name }): MigrationRow => ["client", name || clientId, "stays, with the secret"]),
  ];
  for (const policy of await listPolicies(session, login)) {
    rows.push(["policy", policy.name || policy.id, await carryPolicy(migration, admin, servers, policy)]);
  }
  for (const server of servers.filter(({ settings }) => settings.policyEnforcementMode === "PERMISSIVE")) {
    if (!migration.isDryRun) {
      const settings = { ...server.settings, policyEnforcementMode: "ENFORCING" };
      await send(session, "PUT", serverOf(admin, server), settings);
    }
    rows.push(["protection", server.clientId, "paths that nobody registered are closed"]);
  }
  if (workspaces !== undefined) {
    rows.push(
      ...(await listWorkspaces(session, workspaces)).map((name): MigrationRow => [
        "workspace",
        name,
        "stays, with its name and bucket",
      ]),
    );
  }
  return rows;
}

const serverOf = (admin: string, { id }: Named) => `${admin}/clients/${id}/authz/resource-server`;

async function send(session: AdminSession, method: string, url: string, body?: object): Promise<unknown> {
  const response = await session.request(method, url, body);
  if (response.status >= 400) {
    throw new CommandError(`${method} ${new URL(url).pathname}: ${describe(response.status, response.body)}`);
  }
  return response.body;
}

async function listAll(session: AdminSession, url: string): Promise<readonly Named[]> {
  const all: Named[] = [];
  for (;;) {
    const page = (await send(session, "GET", `${url}?first=${all.length}&max=${PAGE}`)) as readonly Named[];
    all.push(...page);
    if (page.length < PAGE) {
      return all;
    }
  }
}

async function listWorkspaces(session: AdminSession, url: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (let after: string | undefined; ;) {
    const query = new URLSearchParams({ limit: "100", ...(after !== undefined && { after }) });
    const body = (await send(session, "GET", `${url}/workspaces?${query.toString()}`)) as {
      readonly workspaces: readonly { readonly name: string }[];
      readonly next?: string;
    };
    names.push(...body.workspaces.map(({ name }) => name));
    after = body.next;
    if (after === undefined) {
      return names;
    }
  }
}

async function listPolicies(session: AdminSession, login: string): Promise<readonly DecisionPolicy[]> {
  const url = `${login}/pdp/policy/`;
  const { status, body } = await session.request("GET", url);
  if (status === 404) {
    throw new CommandError(
      "the policies cannot be read: the deployment has no policy decision point; deploy it with REQUIRE_PDP=true, then migrate",
    );
  }
  if (status >= 400) {
    throw new CommandError(`GET ${new URL(url).pathname}: ${describe(status, body)}`);
  }
  return (body as { policies: readonly DecisionPolicy[] }).policies;
}

async function readServers(
  session: AdminSession,
  admin: string,
  clients: readonly Named[],
): Promise<readonly ResourceServer[]> {
  const servers: ResourceServer[] = [];
  for (const client of clients) {
    const { status, body } = await session.request("GET", serverOf(admin, client));
    if (status === 200) {
      const resources = await send(session, "GET", `${serverOf(admin, client)}/resource?max=10000`);
      servers.push({
        ...client,
        clientId: client.clientId ?? "",
        settings: body as ResourceServer["settings"],
        resources: resources as ResourceServer["resources"],
      });
    }
  }
  return servers;
}

/** A user policy and a permission in place of a policy that names users; both are there before that one goes. */
async function carryPolicy(
  { session, login, isDryRun }: Migration,
  admin: string,
  servers: readonly ResourceServer[],
  policy: DecisionPolicy,
): Promise<string> {
  const { resource_id: resourceId, action } = policy.config;
  const server = servers.find(({ resources }) => resources.some(({ _id: id }) => id === resourceId));
  if (server === undefined) {
    return "stays, unused: its resource is enforced by nobody here";
  }
  const conversion = convertPolicy(policy);
  if (conversion.kind === "kept") {
    return `stays in force as it is: ${conversion.because}`;
  }
  const result = `becomes a policy of ${server.clientId} for ${conversion.users.join(", ")}`;
  if (isDryRun) {
    return result;
  }
  // The id makes the names the same at each attempt, and different from those of others.
  const name = `${policy.name || "Policy"} ${policy.id}`;
  const base = serverOf(admin, server);
  await ensure(session, `${base}/policy`, "user", { name, users: conversion.users });
  const scopes = listScopes(policy, server.resources.find(({ _id: id }) => id === resourceId)?.scopes ?? []);
  await ensure(session, `${base}/permission`, scopes.length === 0 ? "resource" : "scope", {
    name: `${name} permission`,
    resources: [resourceId],
    ...(scopes.length > 0 && { scopes }),
    policies: [name],
    decisionStrategy: "AFFIRMATIVE",
  });
  await send(session, "DELETE", `${login}/pdp/policy/${policy.id}`);
  return action === "" ? result : `${result}, for ${scopes.join(", ")}`;
}

/** As the decision point reads an action: itself, a method, or reading for `view`. */
function listScopes({ config: { action }, scopes }: DecisionPolicy, known: readonly Named[]): readonly string[] {
  const names = new Set(known.map(({ name }) => name ?? ""));
  const method = `protected_${action.toLowerCase()}`;
  const desired = [...scopes, action, method, ...(action === "view" ? ["protected_get", "protected_head"] : [])];
  return [...new Set(desired)].filter((scope) => names.has(scope));
}

async function ensure(
  session: AdminSession,
  url: string,
  type: string,
  body: { readonly name: string; readonly [field: string]: unknown },
): Promise<void> {
  const { status } = await session.request("GET", `${url}/search?name=${encodeURIComponent(body.name)}`);
  if (status !== 200) {
    await send(session, "POST", `${url}/${type}`, body);
  }
}
