import type { Accounts } from "../store/accounts.ts";

/**
 * Makes the role that lets administrators of the platform (realm role `admin`) do everything, once in the life of a store:
 * who deletes or changes it keeps the last word. There is no role for every user: who owns a bucket cannot be told from a
 * token, so workspaces get a role each, for the names of their members.
 */
export async function addDefaultRoles(accounts: Accounts): Promise<void> {
  await accounts.addRoleOnce("default-roles", {
    name: "administrator",
    claim: "realm_access.roles",
    values: ["admin"],
    policy: JSON.stringify({
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "s3:*", Resource: "arn:aws:s3:::*" }],
    }),
  });
}
