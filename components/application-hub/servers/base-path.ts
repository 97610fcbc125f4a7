import type { ServerRow } from "../store/servers.ts";
import { servicePrefix } from "./names.ts";

/** Where a server has its root: JupyterHub's servers below `/user/`, other programs at `/`. */
export function baseOf({
  definition,
  user_name: user,
  name,
}: Pick<ServerRow, "definition" | "user_name" | "name">): string {
  const { embedded } = definition;
  const isHub =
    embedded === undefined || embedded === null || (embedded.kind !== "browser" && embedded.base !== "root");
  return isHub ? servicePrefix(user, name) : "/";
}

/** The page that opens first. */
export function openingPath(server: ServerRow): string {
  const base = baseOf(server);
  const path = (server.definition.default_url ?? "/").replace(/^\/+/, "");
  return `${base}${path}`;
}
