import type pg from "pg";

import { type Reader, toReadCondition } from "../access/reader.ts";
import type { QueryableSchema } from "../query/queryables.ts";
import { SqlParameters } from "../query/sql.ts";
import { prepareRecordCells } from "./record-columns.ts";
import { notePartsChanged } from "./partitions/create-parts.ts";
import { inTransaction } from "./transaction.ts";
import { WriteConflict, writeInTransaction } from "./write-records.ts";
import type { NewRecord } from "../model/record.ts";

/** A collection as rights and writers need it. What it says of itself is its record. */
export interface CollectionEntry {
  readonly key: number;
  readonly id: string;
  /** Null: the platform's own. */
  readonly workspace: string | null;
  readonly isPublic: boolean;
  /** Declared queryables by name; null without any. */
  readonly queryables: Readonly<Record<string, QueryableSchema>> | null;
}

interface CollectionRow {
  readonly key: number;
  readonly id: string;
  readonly workspace: string | null;
  readonly is_public: boolean;
  readonly queryables: Readonly<Record<string, QueryableSchema>> | null;
}

/** The collection of an id, when the reader may see it. */
export async function findCollection(pool: pg.Pool, reader: Reader, id: string): Promise<CollectionEntry | undefined> {
  const parameters = new SqlParameters();
  const { rows } = await pool.query<CollectionRow>(
    `/* prepared: find-collection-${toForm(reader)} */ select c.key, c.id, c.workspace, c.is_public, c.queryables from collection c
     where c.id = ${parameters.add(id, "text")} and ${toReadCondition(reader, (value, type) => parameters.add(value, type))}`,
    parameters.values,
  );
  return rows[0] && toEntry(rows[0]);
}

/** Which text the condition of a reader has: a name of a prepared statement stands for one text. */
const toForm = ({ isOperator, isAnonymous, workspaces, only }: Reader): string =>
  `${isOperator ? (isAnonymous === true ? "anonymous" : "operator") : workspaces.size === 0 ? "anybody" : "member"}${only === undefined ? "" : "-here"}`;

export interface NewCollection {
  readonly record: NewRecord;
  readonly workspace: string | null;
  readonly isPublic: boolean;
}

/** Makes a collection and its record. @throws {WriteConflict} `exists`, also where the caller may not see it */
export function insertCollection(pool: pg.Pool, { record, workspace, isPublic }: NewCollection): Promise<void> {
  return inTransaction(pool, async (client) => {
    const key = await insertEntry(client, { id: record.id, workspace, isPublic });
    if (key === undefined) {
      throw new WriteConflict("exists", [record.id]);
    }
    await writeInTransaction(client, [prepareRecordCells(record)], { mode: "insert", collection: key });
  });
}

async function insertEntry(
  client: Pick<pg.Pool, "query">,
  { id, workspace, isPublic }: { id: string; workspace: string | null; isPublic: boolean },
): Promise<number | undefined> {
  const { rows } = await client.query<{ key: number }>(
    "insert into collection (id, workspace, is_public) values ($1, $2, $3) on conflict (id) do nothing returning key",
    [id, workspace, isPublic],
  );
  return rows[0]?.key;
}

/** Who may see a collection. */
export async function setVisibility(pool: pg.Pool, key: number, isPublic: boolean): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query("update collection set is_public = $2 where key = $1", [key, isPublic]);
    await notePartsChanged(client);
  });
}

/** What a collection declares to be filtered by; null: nothing. */
export async function setQueryables(
  pool: pg.Pool,
  key: number,
  queryables: Readonly<Record<string, QueryableSchema>> | null,
): Promise<void> {
  await pool.query("update collection set queryables = $2 where key = $1", [
    key,
    queryables === null ? null : JSON.stringify(queryables),
  ]);
}

const toEntry = ({ key, id, workspace, is_public: isPublic, queryables }: CollectionRow): CollectionEntry => ({
  key,
  id,
  workspace,
  isPublic,
  queryables,
});
