import { readFileSync } from "node:fs";
import { join } from "node:path";

import type pg from "pg";

interface AuditRole {
  readonly user: string;
  /** Its schema, and the name of its service in the trail. */
  readonly schema: string;
}

const STATEMENTS = readFileSync(join(import.meta.dirname, "audit.sql"), "utf8");

/** Makes the trail and lets each role note what it does, in its own name alone. The schemas in `readers` may search it as well. */
export async function makeAuditTrail(
  client: pg.Client,
  roles: readonly AuditRole[],
  readers: readonly string[] = ["portal"],
): Promise<void> {
  await client.query("begin");
  try {
    await client.query("select pg_advisory_xact_lock(hashtext('database roles'))");
    await client.query(STATEMENTS);
    for (const { user, schema } of roles) {
      const role = client.escapeIdentifier(user);
      await client.query(
        "insert into audit.service (role, name) values ($1, $2) on conflict (role) do update set name = excluded.name",
        [user, schema.replaceAll("_", "-")],
      );
      await client.query(`grant usage on schema audit to ${role}`);
      await client.query(`grant execute on function audit.note(jsonb), audit.seal(int) to ${role}`);
      if (readers.includes(schema)) {
        await client.query(`grant select on audit.entry to ${role}`);
      }
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
