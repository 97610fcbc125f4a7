import type { IdentityAdmin } from "../clients/identity-admin.ts";
import { PROTECTION_STEP, type Step } from "./step.ts";

/** The gatekeeper lets the members of a workspace, and nobody else but the administrator, to its paths of the workspace API. */
export function createProtectionStep(identity: IdentityAdmin, client: string, adminUser: string): Step {
  return {
    name: PROTECTION_STEP,
    title: "Protection",
    apply: async ({ workspace, wasDone }) => {
      const { name, members } = workspace;
      const admin = await identity.findUser(adminUser);
      const users = [admin?.id, ...members.map(({ userId }) => userId)];
      const repaired = await identity.ensureProtection({
        client,
        name,
        uris: [`/workspaces/${name}/*`],
        users: [...new Set(users.filter((id) => typeof id === "string"))],
      });
      // Members that were added a moment ago differ too; that is no repair.
      return wasDone && workspace.generation === workspace.observedGeneration ? repaired : [];
    },
    remove: ({ workspace }) => identity.removeProtection(client, workspace.name),
  };
}
