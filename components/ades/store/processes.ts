import type { Kysely, Selectable } from "kysely";

import type { ProcessDescription } from "../packages/describe.ts";
import type { Tables } from "./tables.ts";

export type StoredProcess = Selectable<Tables["process"]>;
type Db = Kysely<Tables>;

export interface NewProcess {
  readonly owner: string;
  readonly description: ProcessDescription;
  readonly package: string;
  /** Where the package came from. */
  readonly reference: string;
}

export function findProcess(db: Db, owner: string, id: string): Promise<StoredProcess | undefined> {
  return db
    .selectFrom("process")
    .selectAll()
    .where("owner", "=", owner)
    .where("id", "=", id)
    .where("current", "=", true)
    .executeTakeFirst();
}

/** A version that a job runs, also when it has been replaced meanwhile. */
export function findVersion(db: Db, owner: string, id: string, version: number): Promise<StoredProcess | undefined> {
  return db
    .selectFrom("process")
    .selectAll()
    .where("owner", "=", owner)
    .where("id", "=", id)
    .where("version", "=", version)
    .executeTakeFirst();
}

export async function listProcesses(db: Db, owner: string): Promise<readonly StoredProcess[]> {
  return db
    .selectFrom("process")
    .selectAll()
    .where("owner", "=", owner)
    .where("current", "=", true)
    .orderBy("id")
    .execute();
}

/** Stores a process; `false` where one of the id is deployed. */
export async function insertProcess(db: Db, process: NewProcess): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = { rows: await versionsOf(transaction, process) };
    if (rows.some(({ current }) => current)) {
      return false;
    }
    await insertVersion(transaction, process, rows.length + 1);
    return true;
  });
}

/** A new version of a deployed process; jobs that run the former one go on with it. `false` where there is none. */
export async function replaceProcess(db: Db, process: NewProcess): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const rows = await versionsOf(transaction, process);
    if (!rows.some(({ current }) => current)) {
      return false;
    }
    await retire(transaction, process.owner, process.description.id);
    await insertVersion(transaction, process, rows.length + 1);
    return true;
  });
}

/** Undeploys; versions stay for the jobs that ran them. `false` where there is none. */
export async function deleteProcess(db: Db, owner: string, id: string): Promise<boolean> {
  return (await retire(db, owner, id)) > 0;
}

function versionsOf(db: Db, { owner, description }: NewProcess) {
  return db
    .selectFrom("process")
    .select(["version", "current"])
    .where("owner", "=", owner)
    .where("id", "=", description.id)
    .forUpdate()
    .execute();
}

async function insertVersion(db: Db, process: NewProcess, version: number): Promise<void> {
  await db
    .insertInto("process")
    .values({
      owner: process.owner,
      id: process.description.id,
      version,
      package: process.package,
      reference: process.reference,
      description: JSON.stringify(process.description),
    })
    .execute();
}

async function retire(db: Db, owner: string, id: string): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable("process")
    .set({ current: false })
    .where("owner", "=", owner)
    .where("id", "=", id)
    .where("current", "=", true)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
