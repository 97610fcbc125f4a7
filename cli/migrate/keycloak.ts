import { adminRealmPath } from "@swath/manifest/realm-paths";

import { CommandError } from "../commands/command.ts";
import { type AdminSession, describe } from "../helpers/admin-session.ts";
import type { KeycloakExport } from "./keycloak-export.ts";

interface MigrateOptions {
  readonly session: AdminSession;
  /** Address of the identity service. */
  readonly identity: string;
  /** Realm that everything goes to; made where it is not there. */
  readonly realm: string;
  readonly exported: KeycloakExport;
  /** Whether who administered the realm administers this one, too. */
  readonly withAdministrators: boolean;
  readonly onProgress: (text: string) => void;
}

interface NotImported {
  readonly resourceType: string;
  readonly resourceName: string;
  readonly why: string;
}

interface ImportResponse {
  readonly results: readonly { readonly action: string; readonly resourceType: string }[];
  readonly notImported?: readonly NotImported[];
}

export interface Migration {
  readonly realmIsNew: boolean;
  /** By the kind of what was imported. */
  readonly counts: ReadonlyMap<string, { readonly added: number; readonly present: number }>;
  readonly notImported: readonly NotImported[];
}

/** Users of one request: each is a transaction of its own, so that one that fails can be repeated. */
const BATCH = 100;

/** Brings a realm of a Keycloak into a realm of the deployment. It may be run again: what is there stays as it is. */
export async function migrateKeycloak(options: MigrateOptions): Promise<Migration> {
  const { session, identity, realm, exported, withAdministrators, onProgress } = options;
  const address = `${identity}${adminRealmPath(realm)}`;
  const responses: ImportResponse[] = [];
  const send = async (url: string, body: object): Promise<void> => {
    const response = await session.request("POST", url, body);
    if (response.status !== 200 && response.status !== 201) {
      throw new CommandError(`the identity service did not take it: ${describe(response.status, response.body)}`);
    }
    responses.push(response.body as ImportResponse);
  };
  const { status } = await session.request("GET", address);
  const realmIsNew = status === 404;
  if (!realmIsNew && status !== 200) {
    throw new CommandError(`realm ${realm} cannot be read: HTTP status ${status}`);
  }
  const { id: _, clientScopes = [], roles, groups = [], clients = [], ...settings } = exported.realm;
  const parts = { clientScopes, roles, groups, clients };
  onProgress(`realm ${realm}: ${realmIsNew ? "making it with its" : "adding"} roles, groups and clients`);
  if (realmIsNew) {
    await send(`${identity}/admin/realms`, { ...settings, ...parts, realm });
  } else {
    await send(`${address}/partialImport?lenient=true`, { ...parts, ifResourceExists: "SKIP" });
  }
  const query = `lenient=true&administrators=${String(realmIsNew || withAdministrators)}`;
  for (let first = 0; first < exported.users.length; first += BATCH) {
    onProgress(`users ${first + 1} to ${Math.min(first + BATCH, exported.users.length)} of ${exported.users.length}`);
    const users = exported.users.slice(first, first + BATCH);
    await send(`${address}/partialImport?${query}`, { users, ifResourceExists: "SKIP" });
  }
  const counts = new Map<string, { added: number; present: number }>();
  for (const { action, resourceType } of responses.flatMap(({ results }) => results)) {
    const count = counts.get(resourceType) ?? { added: 0, present: 0 };
    count[action === "ADDED" ? "added" : "present"] += 1;
    counts.set(resourceType, count);
  }
  return { realmIsNew, counts, notImported: responses.flatMap(({ notImported = [] }) => notImported) };
}

/** Names that one line lists before it says how many more there are. */
const NAMES = 8;

/** What was left out, one line for each reason. */
export function listNotImported(notImported: readonly NotImported[]): readonly string[] {
  const byReason = Map.groupBy(notImported, ({ resourceType, why }) => `${resourceType} ${why}`);
  return [...byReason.values()].map((items) => {
    const names = [...new Set(items.map(({ resourceName }) => resourceName))];
    const more = names.length > NAMES ? ` and ${names.length - NAMES} more` : "";
    // What would be allowed instead is for who writes the document by hand.
    const why = items[0]?.why.replace(/; allowed: .*$/, ", which is not known here");
    return `${items[0]?.resourceType} ${names.slice(0, NAMES).join(", ")}${more}: ${why}`;
  });
}
