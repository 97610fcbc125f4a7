import type { Kysely } from "kysely";

import type { IdentityAdmin } from "../clients/identity-admin.ts";
import { setMemberId, setOwner } from "../store/claims.ts";
import type { Tables } from "../store/tables.ts";
import type { Step } from "./step.ts";

/** Finds out who the owner and the members are, so that rights hang on ids and not on names, which people choose. */
export function createOwnerStep(db: Kysely<Tables>, identity: IdentityAdmin): Step {
  const find = async (name: string) => {
    const user = await identity.findUser(name);
    if (user === undefined) {
      throw new Error(`there is no user ${JSON.stringify(name)}; create the user, or name another one`);
    }
    return user;
  };
  return {
    name: "owner",
    title: "Owner and members",
    apply: async ({ workspace }) => {
      if (workspace.ownerId === null && workspace.owner !== "") {
        const { id, username } = await find(workspace.owner);
        await setOwner(db, workspace.name, id, username);
      }
      for (const { username, userId, role } of workspace.members) {
        if (userId === null && role !== "owner") {
          await setMemberId(db, workspace.name, username, (await find(username)).id);
        }
      }
      return [];
    },
    remove: async () => {},
  };
}
