import { isDeepStrictEqual } from "node:util";

import { type ObjstoreAdmin, type StorageRole, bucketPolicy } from "@swath/storage-admin";

import { type Member, looksLikeId } from "../store/workspaces.ts";
import type { Step } from "./step.ts";

/**
 * Lets members reach the workspace's bucket with their own login: who shows the object storage an access token gets temporary
 * keys by the roles whose members fit. Owner and writers write, readers read.
 */
export function createStorageRolesStep(objstore: ObjstoreAdmin): Step {
  const readers = (workspace: string) => `${workspace}-reader`;
  return {
    name: "storage-roles",
    title: "Storage by login",
    apply: async ({ workspace, wasDone }) => {
      const { name, members } = workspace;
      const repaired: string[] = [];
      // Members that were added or taken out a moment ago differ too; that is no repair.
      const isRepair = wasDone && workspace.generation === workspace.observedGeneration;
      const ensure = async (role: string, requested: StorageRole | undefined) => {
        const found = await objstore.findRole(role);
        if (requested === undefined) {
          if (found !== undefined) {
            await objstore.deleteRole(role);
          }
        } else if (!isDeepStrictEqual(found, requested)) {
          await objstore.putRole(role, requested);
          if (isRepair) {
            repaired.push(`the storage role ${role} had been changed`);
          }
        }
      };
      await ensure(
        name,
        toRole(
          members.filter(({ role }) => role !== "reader"),
          bucketPolicy(name, "write"),
        ),
      );
      await ensure(
        readers(name),
        toRole(
          members.filter(({ role }) => role === "reader"),
          bucketPolicy(name, "read"),
        ),
      );
      return repaired;
    },
    remove: async ({ workspace: { name } }) => {
      await objstore.deleteRole(name);
      await objstore.deleteRole(readers(name));
    },
  };
}

/** Undefined when there is nobody to let in. */
function toRole(members: readonly Member[], policy: object): StorageRole | undefined {
  const ids = members.flatMap(({ username, userId }) => userId ?? (looksLikeId(username) ? username : []));
  const names = members.flatMap(({ username }) => (username === "" || looksLikeId(username) ? [] : username));
  if (ids.length < members.length && names.length > 0) {
    // People choose their names: they count only where no identity service could be asked for the ids behind them.
    return { claim: "preferred_username", values: names.toSorted(), policy };
  }
  return ids.length === 0 ? undefined : { claim: "sub", values: ids.toSorted(), policy };
}
