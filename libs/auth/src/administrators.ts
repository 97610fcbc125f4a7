import { type Settings, defineSettings } from "@swath/service";

import { reach } from "./policy/identity-of.ts";
import type { Identity } from "./policy/types.ts";

/** Settings of services that let administrators do more than others. The same in each, so that one person is the same everywhere. */
export const administratorSettings = defineSettings({
  IDENTITY_ADMIN_USER: {
    kind: "string",
    optional: true,
    description:
      "Name of the administrator of the deployed identity service. Left out with another issuer, where anybody may have that name.",
  },
  IDENTITY_ADMIN_ROLE: {
    kind: "string",
    default: "admin",
    description: "Role that makes somebody an administrator, in realm_access.roles or the claim ROLES_CLAIM.",
  },
  ROLES_CLAIM: {
    kind: "string",
    optional: true,
    description: "Claim with a list of role or group names, read besides realm_access.roles; dots reach into objects.",
  },
});

/** Who administers the services of a deployment. */
export interface Administrators {
  readonly role: string;
  readonly rolesClaim?: string | undefined;
  readonly user?: string | undefined;
}

export function readAdministrators(settings: Settings<typeof administratorSettings>): Administrators {
  const { IDENTITY_ADMIN_USER: user, IDENTITY_ADMIN_ROLE: role, ROLES_CLAIM: rolesClaim } = settings;
  return { user, role, rolesClaim };
}

/** Whether the person whom a verified token speaks of is an administrator: the one notion of it in the platform. */
export function isAdministrator(
  { username, realmRoles, claims }: Pick<Identity, "username" | "realmRoles" | "claims">,
  { user, role, rolesClaim }: Administrators,
): boolean {
  const claimed = rolesClaim === undefined ? undefined : reach(claims, rolesClaim);
  return (
    realmRoles.includes(role) ||
    (Array.isArray(claimed) && claimed.includes(role)) ||
    (user !== undefined && user !== "" && username === user)
  );
}
