import { Problem } from "@swath/service";

import { forward } from "../services/forward.ts";
import type { Service } from "../services/registry.ts";
import type { Session } from "../session/session.ts";

/** Names of all users, asked in the name of the administrator. @throws {Problem} 404 with an identity service of others, 502 */
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
      const { status, body } = await forward({
        service: identity,
        method: "GET",
        path: `/admin/realms/${encodeURIComponent(realm)}/users?first=${first}&max=${PAGE}&briefRepresentation=true`,
        headers: { accept: "application/json" },
        body: null,
        token,
        clientAddress,
        signal: AbortSignal.timeout(10_000),
      });
      const chunks: Buffer[] = [];
      for await (const chunk of body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
      }
      if (status !== 200) {
        throw new Problem(502, `The identity service answers ${status}.`, { extensions: { service: "identity" } });
      }
      const page = JSON.parse(Buffer.concat(chunks).toString("utf8")) as readonly { readonly username: string }[];
      names.push(...page.map(({ username }) => username));
      if (page.length < PAGE) {
        break;
      }
    }
    return names;
  };
}
