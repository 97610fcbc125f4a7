import { adminRealmPath } from "@swath/manifest/realm-paths";
import { Problem } from "@swath/service";

import { fetchJson } from "../services/fetch-json.ts";
import type { Service } from "../services/registry.ts";
import type { Session } from "../session/session.ts";

/** Names of all users, asked in the name of the administrator. @throws {Problem} 401 when the login has ended, 404 with an identity service of others, 502 */
export type ListUsers = (session: Session, clientAddress: string) => Promise<readonly string[]>;

const PAGE = 500;
const MAX_USERS = 5000;

export function createListUsers(identity: Service | undefined, realm: string): ListUsers {
  return async ({ verified: { token } }, clientAddress) => {
    if (identity === undefined) {
      throw new Problem(404, "The users of this deployment are kept by another identity service.");
    }
    const names: string[] = [];
    for (let first = 0; first < MAX_USERS; first += PAGE) {
      const { status, body: page } = await fetchJson<readonly { readonly username: string }[]>({
        service: identity,
        path: `${adminRealmPath(realm)}/users?first=${first}&max=${PAGE}&briefRepresentation=true`,
        token,
        clientAddress,
      });
      if (page === undefined) {
        throw new Problem(502, `The identity service answers ${status}.`, { extensions: { service: "identity" } });
      }
      names.push(...page.map(({ username }) => username));
      if (page.length < PAGE) {
        break;
      }
    }
    return names;
  };
}
