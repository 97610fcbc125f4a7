import type { Kysely } from "kysely";

import type { IdentityAdmin } from "../clients/identity-admin.ts";
import { removeMember, setMemberId, setOwner } from "../store/claims.ts";
import type { Tables } from "../store/tables.ts";
import type { Step } from "./step.ts";

/** Finds out who the owner and the members are, so that rights hang on ids and not on names, which people choose. */
export function createOwnerStep(db: Kysely<Tables>, identity: IdentityAdmin): Step {
  return {
    name: "owner",
    title: "Owner and members",
    apply: async ({ workspace }) => {
      if (workspace.ownerId === null && workspace.owner !== "") {
        const user = await identity.findUser(workspace.owner);
        if (user === undefined) {
          throw new Error(`there is no user ${JSON.stringify(workspace.owner)}; create the user, or name another one`);
        }
        await setOwner(db, workspace.name, user.id, user.username);
      }
      const unknown: string[] = [];
      for (const { username, userId, role } of workspace.members) {
        if (userId !== null || role === "owner") {
          continue;
        }
        const user = await identity.findUser(username);
        if (user === undefined) {
          // Who never was a user is no member; the others must not wait for it.
          await removeMember(db, workspace.name, username);
          unknown.push(`member ${username}, who is no user, removed`);
        } else {
          await setMemberId(db, workspace.name, username, user.id);
        }
      }
      return unknown;
    },
    remove: async () => {},
  };
}
