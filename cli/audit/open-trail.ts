import type { Plan } from "../platform/plan.ts";
import type { DatabaseWay, Target } from "../targets/target.ts";
import { CommandError } from "../commands/command.ts";

/** A connection to the database of a deployment as whoever owns it, for the audit trail. */
export interface OpenTrail {
  readonly query: <Row extends object>(text: string, values?: readonly unknown[]) => Promise<{ rows: Row[] }>;
  readonly close: () => Promise<void>;
}

/** @throws {CommandError} where the database cannot be reached from here, or has no trail */
export async function openTrail(target: Target, plan: Plan): Promise<OpenTrail> {
  const { default: pg } = await import("pg");
  const { database } = plan;
  const way = database.kind === "deployed" ? await openWay(target) : undefined;
  const client = new pg.Client(
    database.kind === "external"
      ? { connectionString: await target.readSecret(database.url), connectionTimeoutMillis: 10_000 }
      : {
          host: way?.folder,
          database: database.name,
          user: database.user,
          password: await target.readSecret(database.password),
          connectionTimeoutMillis: 10_000,
        },
  );
  // A connection that breaks fails the query that waits for it.
  client.on("error", () => {});
  const close = async () => {
    const ended = client.end().catch(() => {});
    // Through an API server the end of a connection arrives late: it is cut off here instead.
    await way?.close();
    await ended;
  };
  await client.connect().catch(async (error: unknown) => {
    await close();
    throw new CommandError(`the database does not answer: ${(error as Error).message}; swath pods says how it does`);
  });
  const { rows } = await client.query<{ has: boolean }>("select to_regclass('audit.entry') is not null as has");
  if (rows[0]?.has !== true) {
    await close();
    throw new CommandError(
      "this deployment keeps no audit trail: its services share one role of the database (DATABASE_ROLES=shared), or it was applied by an earlier version",
    );
  }
  return {
    query: <Row extends object>(text: string, values: readonly unknown[] = []) => client.query<Row>(text, [...values]),
    close,
  };
}

/** @throws {CommandError} where no pod of the database is ready */
async function openWay({ databaseFolder, openDatabase }: Target): Promise<DatabaseWay> {
  if (databaseFolder !== undefined || openDatabase === undefined) {
    return { folder: databaseFolder ?? "", close: async () => {} };
  }
  return openDatabase().catch((error: unknown) => {
    throw new CommandError(`the database does not answer: ${(error as Error).message}; swath pods says how it does`);
  });
}
