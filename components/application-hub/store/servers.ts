import type { Profile } from "../profiles/model.ts";
import type { Sql } from "./database.ts";

export type ServerState = "stopped" | "starting" | "ready" | "stopping";

/** Where requests for a server go: an address, or files that the proxy has itself. */
export type Target = { readonly url: string } | { readonly site: string; readonly hosts?: readonly string[] };

/** One thing that happened while a server started. */
export interface ProgressEvent {
  readonly at: string;
  readonly progress: number;
  readonly message: string;
}

export interface ServerRow {
  readonly id: string;
  readonly user_name: string;
  readonly name: string;
  readonly label: string;
  readonly profile: string;
  readonly definition: Profile;
  readonly options: Readonly<Record<string, unknown>>;
  readonly state: ServerState;
  readonly handle: Readonly<Record<string, unknown>> | null;
  readonly target: Target | null;
  readonly cores: number;
  readonly memory_bytes: string;
  readonly progress: readonly ProgressEvent[];
  readonly created: Date;
  readonly started: Date | null;
  readonly last_activity: Date | null;
  readonly ended: Date | null;
  readonly end_reason: string | null;
  /** Why ~/workspace and the bucket are not the same now. */
  readonly workspace_trouble: string | null;
}

export const findServer = (sql: Sql, user: string, name: string): Promise<ServerRow | undefined> =>
  sql.first<ServerRow>("select * from servers where user_name = $1 and name = $2", [user, name]);

export const findServerById = (sql: Sql, id: string): Promise<ServerRow | undefined> =>
  sql.first<ServerRow>("select * from servers where id = $1", [id]);

export const findServerByLabel = (sql: Sql, label: string): Promise<ServerRow | undefined> =>
  sql.first<ServerRow>("select * from servers where label = $1", [label]);

export const listServers = (sql: Sql, user?: string): Promise<readonly ServerRow[]> =>
  user === undefined
    ? sql.rows<ServerRow>("select * from servers order by user_name, name")
    : sql.rows<ServerRow>("select * from servers where user_name = $1 order by name", [user]);

export const listServersOf = (sql: Sql, users: readonly string[]): Promise<readonly ServerRow[]> =>
  sql.rows<ServerRow>("select * from servers where user_name = any($1) order by user_name, name", [users]);

/** Servers that take room: whatever is not stopped. */
export const listActive = (sql: Sql): Promise<readonly ServerRow[]> =>
  sql.rows<ServerRow>("select * from servers where state <> 'stopped' order by user_name, name");

export async function addProgress(sql: Sql, id: string, event: Omit<ProgressEvent, "at">): Promise<void> {
  await sql.rows("update servers set progress = progress || $2::jsonb where id = $1", [
    id,
    JSON.stringify([{ at: new Date().toISOString(), ...event }]),
  ]);
}
