import { ADMIN_ROLE, REALM_MANAGEMENT } from "../../realms/create-realm.ts";
import { type Role, listAllRoles } from "../../store/roles.ts";
import { readObject, readTexts } from "../request.ts";
import type { RealmImport } from "./import-realm.ts";

/** Roles as documents name them: by `realmRoles` (names) and `clientRoles` (names by client id). */
interface HeldRoles {
  readonly realm: unknown;
  readonly clients: unknown;
}

export interface NamedRoles {
  /** `clientId` is empty for a role of the realm. */
  readonly find: (clientId: string, name: string) => Role | undefined;
  /** The roles that a part of a document holds; those that are not there, or are not given here, are listed as left out. */
  readonly readHeld: (held: HeldRoles, resourceType: string, resourceName: string) => readonly Role[];
}

/** Every role of the realm by its name, read once for a whole import. */
export async function loadNamedRoles({ db, realm, log, givesAdministration }: RealmImport): Promise<NamedRoles> {
  const roles = new Map<string, Role>();
  for (const { clientId, ...role } of await listAllRoles(db, realm.id)) {
    roles.set(`${clientId ?? ""} ${role.name}`, role);
  }
  const find = (clientId: string, name: string): Role | undefined => roles.get(`${clientId} ${name}`);
  const administers = (clientId: string, name: string): boolean =>
    clientId === REALM_MANAGEMENT || (clientId === "" && name === ADMIN_ROLE);
  return {
    find,
    readHeld: (held, resourceType, resourceName) => {
      const clients = held.clients === undefined || held.clients === null ? {} : readObject(held.clients);
      const names = [
        ...(readTexts({ names: held.realm }, "names") ?? []).map((name) => ["", name] as const),
        ...Object.keys(clients).flatMap((clientId) =>
          (readTexts(clients, clientId) ?? []).map((name) => [clientId, name] as const),
        ),
      ];
      return names.flatMap(([clientId, name]) => {
        const role = find(clientId, name);
        const shown = `role ${clientId === "" ? "" : `${clientId}/`}${name}`;
        if (role === undefined) {
          log.leaveOut(resourceType, resourceName, `the ${shown} is not there`);
          return [];
        }
        if (!givesAdministration && administers(clientId, name)) {
          log.leaveOut(resourceType, resourceName, `the ${shown} administers this realm; give it by hand`);
          return [];
        }
        return [role];
      });
    },
  };
}
