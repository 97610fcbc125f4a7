import { type Kysely, type Selectable, sql } from "kysely";

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
  /** The workflow in the package, where its id is another than the process's. */
  readonly entry?: string;
  /** Digests of images of the platform's registry, by the names that the package has for them. */
  readonly images: Readonly<Record<string, string>>;
}

/**
 * A deployed process by its id; by `id:version` one of its versions, as its package says it or as they are counted, the latest of
 * the same name.
 */
export async function findProcess(db: Db, owner: string, name: string): Promise<StoredProcess | undefined> {
  const [id = "", version] = name.split(/:(.*)/s, 2);
  if (version === undefined) {
    return findCurrent(db, owner, id);
  }
  if ((await findCurrent(db, owner, id)) === undefined) {
    return undefined;
  }
  return db
    .selectFrom("process")
    .selectAll()
    .where("owner", "=", owner)
    .where("id", "=", id)
    .where(sql<boolean>`(description ->> 'version' = ${version} or version::text = ${version})`)
    .orderBy(sql`description ->> 'version' = ${version}`, "desc")
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Versions of a deployed process, the latest first. */
export async function listVersions(db: Db, owner: string, id: string) {
  return db
    .selectFrom("process")
    .select(["version", "current", "deployed_at", sql<string>`description ->> 'version'`.as("name")])
    .where("owner", "=", owner)
    .where("id", "=", id)
    .orderBy("version", "desc")
    .execute();
}

/** Makes a former version the current one again: jobs get it from now on. `false` where it is gone. */
export async function rollBack(
  db: Db,
  { owner, id, version }: Pick<StoredProcess, "owner" | "id" | "version">,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    await retire(transaction, owner, id);
    const { numUpdatedRows } = await transaction
      .updateTable("process")
      .set({ current: true })
      .where("owner", "=", owner)
      .where("id", "=", id)
      .where("version", "=", version)
      .executeTakeFirst();
    if (Number(numUpdatedRows) !== 1) {
      throw new Error(`version ${version} of ${id} went away while it was taken up again`);
    }
    return true;
  });
}

function findCurrent(db: Db, owner: string, id: string): Promise<StoredProcess | undefined> {
  return db
    .selectFrom("process")
    .selectAll()
    .where("owner", "=", owner)
    .where("id", "=", id)
    .where("current", "=", true)
    .executeTakeFirst();
}

/** The process deployed last whose id is this workflow with a version: `ndvi-1_0_0` for `ndvi`. */
export function findByWorkflow(db: Db, owner: string, workflow: string): Promise<StoredProcess | undefined> {
  return db
    .selectFrom("process")
    .selectAll()
    .where("owner", "=", owner)
    .where("current", "=", true)
    .where("entry", "=", workflow)
    .where(sql<boolean>`starts_with(id, ${`${workflow}-`})`)
    .orderBy("deployed_at", "desc")
    .limit(1)
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

export const PROCESS_SORTS = ["id", "-id", "title", "-title", "deployed", "-deployed"] as const;

interface ProcessQuery {
  readonly limit: number;
  readonly skip: number;
  /** A text in the id, title, description or keywords. */
  readonly search?: string | undefined;
  readonly sort?: (typeof PROCESS_SORTS)[number] | undefined;
}

/** Descriptions of a user's processes, and how many there are. */
export async function listProcesses(
  db: Db,
  owner: string,
  { limit, skip, search, sort = "id" }: ProcessQuery,
): Promise<{ readonly descriptions: readonly ProcessDescription[]; readonly total: number }> {
  const pattern = `%${(search ?? "").replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const query = db
    .selectFrom("process")
    .where("owner", "=", owner)
    .where("current", "=", true)
    .$if(search !== undefined, (some) =>
      some.where(
        sql<boolean>`concat_ws(' ', id, description ->> 'title', description ->> 'description', description ->> 'keywords') ilike ${pattern}`,
      ),
    );
  const column = { id: sql`id`, title: sql`lower(description ->> 'title')`, deployed: sql`deployed_at` }[
    sort.replace("-", "") as "id"
  ];
  const [rows, count] = await Promise.all([
    limit === 0
      ? []
      : query
          .select("description")
          .orderBy(column, sort.startsWith("-") ? "desc" : "asc")
          .orderBy("id")
          .offset(skip)
          .limit(limit)
          .execute(),
    query.select((select) => select.fn.countAll<string>().as("count")).executeTakeFirst(),
  ]);
  return {
    descriptions: rows.map(({ description }) => description as ProcessDescription),
    total: Number(count?.count ?? 0),
  };
}

/** Stores a process; `false` where one of the id is deployed. */
export async function insertProcess(db: Db, process: NewProcess): Promise<boolean> {
  return db
    .transaction()
    .execute(async (transaction) => {
      const rows = await versionsOf(transaction, process);
      if (rows.some(({ current }) => current)) {
        return false;
      }
      await insertVersion(transaction, process, nextVersion(rows));
      return true;
    })
    .catch((error: unknown) => {
      // Another request deployed the same id at the same time.
      if ((error as { code?: string }).code === "23505") {
        return false;
      }
      throw error;
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
    await insertVersion(transaction, process, nextVersion(rows));
    return true;
  });
}

/** Undeploys; versions stay for the jobs that ran them. `false` where there is none. */
export async function deleteProcess(db: Db, owner: string, id: string): Promise<boolean> {
  return (await retire(db, owner, id)) > 0;
}

/** Numbers are not used again, even when the oldest versions have been forgotten. */
const nextVersion = (rows: readonly { readonly version: number }[]): number =>
  Math.max(0, ...rows.map(({ version }) => version)) + 1;

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
      entry: process.entry ?? null,
      images: JSON.stringify(process.images),
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
