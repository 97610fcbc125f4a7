import { publishChange } from "./changes.ts";
import type { Queryable } from "./database.ts";

export interface ResourceServer {
  readonly client: string;
  readonly version: number;
  readonly enforcementMode: "ENFORCING" | "PERMISSIVE" | "DISABLED";
  readonly decisionStrategy: "UNANIMOUS" | "AFFIRMATIVE" | "CONSENSUS";
  readonly allowRemote: boolean;
}

interface Row {
  client: string;
  version: string;
  enforcement_mode: ResourceServer["enforcementMode"];
  decision_strategy: ResourceServer["decisionStrategy"];
  allow_remote: boolean;
}

export async function findResourceServer(db: Queryable, client: string): Promise<ResourceServer | undefined> {
  const { rows } = await db.query<Row>({
    name: "find-resource-server",
    text: "select client, version, enforcement_mode, decision_strategy, allow_remote from resource_server where client = $1",
    values: [client],
  });
  const row = rows[0];
  return (
    row && {
      client: row.client,
      version: Number(row.version),
      enforcementMode: row.enforcement_mode,
      decisionStrategy: row.decision_strategy,
      allowRemote: row.allow_remote,
    }
  );
}

/** Makes a client a resource server. True when it was none before. */
export async function addResourceServer(db: Queryable, client: string): Promise<boolean> {
  const { rowCount } = await db.query("insert into resource_server (client) values ($1) on conflict do nothing", [
    client,
  ]);
  return rowCount === 1;
}

export async function updateResourceServer(
  db: Queryable,
  { client, enforcementMode, decisionStrategy, allowRemote }: Omit<ResourceServer, "version">,
): Promise<void> {
  await db.query(
    "update resource_server set enforcement_mode = $2, decision_strategy = $3, allow_remote = $4 where client = $1",
    [client, enforcementMode, decisionStrategy, allowRemote],
  );
}

export async function removeResourceServer(db: Queryable, client: string): Promise<void> {
  await db.query("delete from resource_server where client = $1", [client]);
}

/** Says, within the transaction of the change, that the rules of a client are others now. */
export async function announceRules(
  db: Queryable,
  realm: string,
  client: { readonly id: string; readonly clientId: string },
): Promise<void> {
  await db.query("update resource_server set version = version + 1 where client = $1", [client.id]);
  await publishChange(db, { kind: "policy", realm, clientId: client.clientId });
}
