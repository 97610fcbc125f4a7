import { baseOf, openingPath } from "../servers/base-path.ts";
import type { ServerRow } from "../store/servers.ts";
import type { UserRow } from "../store/users.ts";
import { type ScopeList, permits } from "./scopes.ts";

/** A server as JupyterHub's API has it. */
export function toServerModel(server: ServerRow, originOf: (label: string) => string): object {
  const pending = server.state === "starting" ? "spawn" : server.state === "stopping" ? "stop" : null;
  const base = baseOf(server);
  return {
    name: server.name,
    full_name: `${server.user_name}/${server.name}`,
    last_activity: toTime(server.last_activity),
    started: server.state === "stopped" ? null : toTime(server.started),
    pending,
    ready: server.state === "ready",
    stopped: server.state === "stopped",
    url: base,
    full_url: `${originOf(server.label)}${base}`,
    user_options: { profile: server.profile, ...server.options },
    progress_url: `/hub/api/users/${encodeURIComponent(server.user_name)}/${server.name === "" ? "server" : `servers/${encodeURIComponent(server.name)}`}/progress`,
    // Beyond JupyterHub's model.
    swath: { opens: `${originOf(server.label)}${openingPath(server)}`, end_reason: server.end_reason },
  };
}

/** A user as far as the caller may know them; undefined where they may know nothing. */
export function toUserModel(
  user: UserRow,
  servers: readonly ServerRow[],
  scopes: ScopeList,
  originOf: (label: string) => string,
  { includesStopped = false }: { readonly includesStopped?: boolean } = {},
): Record<string, unknown> | undefined {
  const subject = { user: user.name, groups: user.groups };
  const may = (scope: string) => permits(scopes, scope, subject);
  if (!may("read:users:name")) {
    return undefined;
  }
  const visible = servers.filter((server) =>
    permits(scopes, "read:servers", { ...subject, server: `${server.user_name}/${server.name}` }),
  );
  const running = visible.filter(({ state }) => state !== "stopped");
  const main = running.find(({ name }) => name === "");
  return {
    kind: "user",
    name: user.name,
    ...(may("read:users") && {
      admin: user.admin,
      created: toTime(user.created),
      roles: user.admin ? ["admin", "user"] : ["user"],
    }),
    ...(may("read:users:groups") && { groups: user.groups }),
    ...(may("read:users:activity") && { last_activity: toTime(user.last_activity) }),
    ...(may("read:servers") || visible.length > 0
      ? {
          server: main?.state === "ready" ? baseOf(main) : null,
          pending: main?.state === "starting" ? "spawn" : main?.state === "stopping" ? "stop" : null,
          servers: Object.fromEntries(
            (includesStopped ? visible : running).map((server) => [server.name, toServerModel(server, originOf)]),
          ),
        }
      : {}),
  };
}

export const toTime = (time: Date | null): string | null => time?.toISOString() ?? null;
