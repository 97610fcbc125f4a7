import { hash } from "node:crypto";

import { inTransaction } from "@swath/postgres/pool";
import type { StacItem } from "@swath/stac";
import { createItemValidator } from "@swath/stac/schema";
import type pg from "pg";

import type { RecordProblem } from "../store/problems.ts";
import { type KnownRecord, type Origin, noteChanges, noteUnchanged } from "../store/records.ts";
import { RegistrationError } from "../queue/errors.ts";
import { type CatalogueClient, describeRefusal } from "./client.ts";
import { type Collections, createCollections } from "./collections.ts";
import { findMissing } from "./find-missing.ts";
import { type RecordWriter, createRecordWriter } from "./record-writer.ts";

/** Records that an outcome names. */
const MAX_NAMED_RECORDS = 20;

export interface WriteOutcome {
  readonly registered: number;
  readonly unchanged: number;
  readonly problems: readonly RecordProblem[];
  /** Collection and id of what was written; where all is as it was, of what there is. */
  readonly records: readonly string[];
}

/** An item with the address of its document. */
export interface LocatedItem {
  readonly item: StacItem;
  readonly document?: string;
}

/** Writes to the catalogue: the last accepted change of each record wins, and a repetition changes nothing. */
export interface CatalogueWriter extends RecordWriter {
  readonly collections: Collections;
  /** Writes items of one collection. Those that are not valid are named, the others written. */
  readonly writeItems: (origin: Origin, collection: string, items: readonly LocatedItem[]) => Promise<WriteOutcome>;
  /**
   * Notes that records are as they were.
   * @returns those that are gone from the catalogue although they should be there
   */
  readonly confirmRecords: <T extends KnownRecord>(origin: Origin, records: readonly T[]) => Promise<readonly T[]>;
  /** Takes records out, with the same rules. @returns how many there were */
  readonly removeRecords: (origin: Origin, records: readonly KnownRecord[]) => Promise<number>;
}

interface WriterOptions {
  readonly pool: pg.Pool;
  readonly client: CatalogueClient;
}

/** Bytes of one request to the catalogue. */
const MAX_BATCH_BYTES = 8 * 2 ** 20;

export function createCatalogueWriter(options: WriterOptions): CatalogueWriter {
  const { pool, client } = options;
  const collections = createCollections(client);
  const validate = createItemValidator();
  return {
    ...createRecordWriter(options, collections),
    collections,
    writeItems: async (origin, requested, located) => {
      const problems: RecordProblem[] = [];
      const valid: LocatedItem[] = [];
      const seen = new Set<string>();
      // The last of twins wins, as if they had come one after another.
      for (const each of located.toReversed()) {
        if (seen.has(each.item.id)) {
          continue;
        }
        seen.add(each.item.id);
        const reason = findFault(validate, each.item);
        if (reason !== undefined) {
          problems.push({ record: String(each.item.id ?? each.document), reason: `The item is not valid: ${reason}.` });
        } else {
          valid.push(each);
        }
      }
      if (valid.length === 0) {
        return { registered: 0, unchanged: 0, problems, records: [] };
      }
      valid.reverse();
      const { scope } = origin;
      const contained = valid.map(({ item }) => item);
      const collection = await collections.ensure(scope, requested, contained).catch((error: unknown) => {
        if (!(error instanceof RegistrationError) || error.isTransient) {
          throw error;
        }
        problems.push(...contained.map(({ id }) => ({ record: id, reason: error.message })));
      });
      if (collection === undefined) {
        return { registered: 0, unchanged: 0, problems, records: [] };
      }
      const lines = valid.map(({ item, document }) => {
        const line = Buffer.from(`${JSON.stringify({ ...item, collection })}\n`);
        return { id: item.id, line, document, hash: hash("sha256", line, "buffer") };
      });
      const outcome = await inTransaction(pool, async (db) => {
        const verdicts = await noteChanges(
          db,
          lines.map(({ id, hash: digest, document }) => ({
            id,
            hash: digest,
            ...(document !== undefined && { document }),
          })),
          { ...origin, collection },
        );
        const same = lines.filter((_, index) => verdicts[index] === "unchanged");
        const gone = await findMissing(
          client,
          scope,
          collection,
          same.map(({ id }) => id),
        );
        const changed = lines.filter(({ id }, index) => verdicts[index] === "write" || gone.has(id));
        const refused: RecordProblem[] = [];
        for (const batch of toBatches(changed)) {
          refused.push(...(await sendBatch(client, scope, collection, batch)));
        }
        if (refused.length > 0) {
          // What is in the catalogue is not what was sent: the same document is worth sending again.
          await db.query("update record set hash = '\\x' where scope = $1 and collection = $2 and id = any($3)", [
            scope,
            collection,
            refused.map(({ record }) => record),
          ]);
        }
        const isRefused = new Set(refused.map(({ record }) => record));
        const written = changed.filter(({ id }) => !isRefused.has(id));
        return { written, refused, unchanged: lines.length - changed.length, same };
      });
      if (outcome.written.length > 0) {
        await collections.cover(scope, collection, contained);
      }
      return {
        registered: outcome.written.length,
        unchanged: outcome.unchanged,
        problems: [...problems, ...outcome.refused],
        // Where nothing has changed, the result names the records that are there.
        records: (outcome.written.length > 0 ? outcome.written : outcome.same)
          .slice(0, MAX_NAMED_RECORDS)
          .map(({ id }) => `${collection}/${id}`),
      };
    },
    confirmRecords: (origin, records) =>
      inTransaction(pool, async (db) => {
        const gone: (typeof records)[number][] = [];
        for (const [collection, group] of Map.groupBy(records, (record) => record.collection)) {
          const noted = await noteUnchanged(
            db,
            group.map(({ id }) => id),
            { ...origin, collection },
          );
          const missing = await findMissing(client, origin.scope, collection, noted);
          gone.push(...group.filter(({ id }) => missing.has(id)));
        }
        return gone;
      }),
    removeRecords: async (origin, records) => {
      let removed = 0;
      for (const { collection, id } of records) {
        removed += await inTransaction(pool, async (db) => {
          const [verdict] = await noteChanges(db, [{ id, hash: null }], { ...origin, collection });
          if (verdict === "superseded") {
            return 0;
          }
          const path =
            collection === ""
              ? `/stac/collections/${encodeURIComponent(id)}`
              : `/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(id)}`;
          const { status } = await client.send(origin.scope, "DELETE", path);
          return status === 204 ? 1 : 0;
        });
      }
      return removed;
    },
  };
}

/** Longest id that the catalogue takes. */
const MAX_ID_LENGTH = 500;

/** Why an item cannot be written, before the ledger is asked for its id. */
function findFault(validate: ReturnType<typeof createItemValidator>, item: StacItem): string | undefined {
  const issues = validate(item);
  if (issues.length > 0) {
    return issues.map(({ path, rule }) => `${path} ${rule}`).join("; ");
  }
  const isKept = item.id.length <= MAX_ID_LENGTH && !/\p{Cc}/u.test(item.id) && item.id.isWellFormed();
  return isKept ? undefined : `/id must have at most ${MAX_ID_LENGTH} characters, none of them a control character`;
}

interface Line {
  readonly id: string;
  readonly line: Buffer;
}

/** Writes lines, all that the catalogue takes. @returns those that it does not */
async function sendBatch(
  client: CatalogueClient,
  scope: string,
  collection: string,
  batch: readonly Line[],
): Promise<RecordProblem[]> {
  if (batch.length === 0) {
    return [];
  }
  const response = await client.sendLines(scope, collection, Buffer.concat(batch.map(({ line }) => line)));
  if (response.status === 201) {
    return [];
  }
  const [only] = batch;
  if (batch.length === 1 && only !== undefined) {
    return [{ record: only.id, reason: describeRefusal(response).replace(/^Line 1 is/, "The item is") }];
  }
  const half = Math.ceil(batch.length / 2);
  return [
    ...(await sendBatch(client, scope, collection, batch.slice(0, half))),
    ...(await sendBatch(client, scope, collection, batch.slice(half))),
  ];
}

function* toBatches<T extends Line>(lines: readonly T[]): Generator<readonly T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const line of lines) {
    if (bytes + line.line.length > MAX_BATCH_BYTES && batch.length > 0) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(line);
    bytes += line.line.length;
  }
  if (batch.length > 0) {
    yield batch;
  }
}
