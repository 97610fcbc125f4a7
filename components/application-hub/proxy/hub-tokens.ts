import type { Peer } from "@swath/service";

import { mayEnter } from "../access/may-enter.ts";
import { permits } from "../api/scopes.ts";
import type { Sql } from "../store/database.ts";
import type { ServerRoute, Visit } from "./routes.ts";

/** Asks the hub whether a token gives access to a server; whatever it answers but a clear yes is a no. @throws {Error} where it cannot answer */
export function createHubTokens(
  hub: Peer,
  sql: Sql,
): (token: string, server: ServerRoute) => Promise<Visit | undefined> {
  return async (token, { id, user, name }) => {
    const response = await hub.fetch("/hub/api/user", { headers: { authorization: `token ${token}` } });
    if (!response.ok) {
      await response.body?.cancel();
      if (response.status >= 500) {
        throw new Error(`the hub answers ${response.status} to who a token belongs to`);
      }
      return undefined;
    }
    const caller = (await response.json()) as { readonly name?: string; readonly scopes?: readonly string[] };
    const subject = caller.name ?? "";
    // A token of everything that its user may do has their shares as well.
    if (subject !== user && permits(caller.scopes ?? [], "shares", { user: subject })) {
      return (await mayEnter(sql, subject, { id, user_name: user })) === undefined
        ? undefined
        : { user: subject, isOwner: false, loginId: null };
    }
    return permits(caller.scopes ?? [], "access:servers", { user, server: `${user}/${name}` })
      ? { user: caller.name ?? "", isOwner: caller.name === user, loginId: null }
      : undefined;
  };
}
