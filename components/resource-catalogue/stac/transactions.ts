import { setTimeout as sleep } from "node:timers/promises";

import type { FastifyInstance, FastifyRequest } from "fastify";

import { MAIN_COLLECTION, type Reader, mayWrite } from "../access/reader.ts";
import { clientSignal } from "../http/client-signal.ts";
import type { CatalogueContext } from "../http/context.ts";
import { badParameter, notFound, problem } from "../http/errors.ts";
import { BODY_IN_THREAD, type JsonBody, RequestBody, requireObject } from "../http/json-body.ts";
import { readSingle } from "../http/parameters.ts";
import { readPatch } from "../http/patch.ts";
import { type NewRecord, toNewlyStored } from "../model/record.ts";
import { type CollectionEntry, findCollection, insertCollection, setVisibility } from "../store/collections.ts";
import { deleteCollection, deleteRecord } from "../store/delete-records.ts";
import { findRecord } from "../store/read-record.ts";
import { type PreparedRecord, prepareRecordCells } from "../store/record-columns.ts";
import { WriteConflict, type Written, writePrepared, writeRecords } from "../store/write-records.ts";
import { collectionUrl, itemUrl, stacRoot } from "./links.ts";
import { prepareCollection, prepareItem, prepareItems } from "./prepare.ts";
import { linkContextOf, renderCollection, renderItem, sendRecord } from "./respond.ts";

const MAX_COLLECTION_BYTES = 8 * 2 ** 20;
const MAX_ITEMS_BYTES = 32 * 2 ** 20;
/** Bodies up to this size are read at once, without a thread. */
const MAX_INLINE_BYTES = 64 * 1024;
/** Time for which a patch without If-Match is tried again while others change the same record. */
const PATCH_TIMEOUT_MS = 15_000;
const MAX_PATCH_DELAY_MS = 100;

interface CollectionParams {
  readonly Params: { readonly collection: string };
}
interface ItemParams {
  readonly Params: { readonly collection: string; readonly id: string };
}

/** Collections and items are written (transaction extensions; OGC API Features Part 4). */
export function addTransactionRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  addItemRoutes(scope, context);
  addCollectionRoutes(scope, context);
}

function addItemRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  const { pool } = context;
  scope.post<CollectionParams>(
    "/collections/:collection/items",
    { bodyLimit: MAX_ITEMS_BYTES, config: BODY_IN_THREAD },
    async (request, reply) => {
      const entry = await enterForInserting(context, request, request.params.collection);
      const { records, single, isSingle } = await prepareBody(context, request, entry.id);
      if (single !== undefined) {
        const written = await insertSingle(context, request, entry, single);
        context.announceChange();
        const root = stacRoot(request);
        void reply.code(201).header("location", itemUrl(root, entry.id, single.id));
        const record = toNewlyStored(single, written, entry);
        return sendRecord(reply, record, renderItem(linkContextOf(context, request), record));
      }
      refuseTwins(records);
      await writePrepared(pool, records, { mode: "insert", collection: entry.key, signal: clientSignal(reply) });
      context.announceChange();
      if (isSingle !== true) {
        return reply.code(201).send();
      }
      const { id } = records[0] as PreparedRecord;
      void reply.code(201).header("location", itemUrl(stacRoot(request), entry.id, id));
      return sendStored(context, request, reply, { collection: entry.id, id });
    },
  );
  scope.put<ItemParams>("/collections/:collection/items/:id", async (request, reply) => {
    const { collection, id } = request.params;
    const { entry } = await enterForWriting(context, request, collection);
    const record = prepareItem(context, requireObject(request.body), entry.id);
    requireSameId(record, id);
    await writeRecords(pool, [record], { mode: "replace", collection: entry.key, ...toExpected(request) });
    context.announceChange();
    return sendStored(context, request, reply, { collection: entry.id, id });
  });
  scope.patch<ItemParams>("/collections/:collection/items/:id", async (request, reply) => {
    const { collection, id } = request.params;
    const { reader, entry } = await enterForWriting(context, request, collection);
    const patch = readPatch(request);
    await changeStored(context, request, { reader, collection: entry, id, isCollection: false }, (stored) => {
      const record = prepareItem(context, toBody(patch(JSON.parse(stored))), entry.id);
      requireSameId(record, id);
      return record;
    });
    return sendStored(context, request, reply, { collection: entry.id, id });
  });
  scope.delete<ItemParams>("/collections/:collection/items/:id", async (request, reply) => {
    const { collection, id } = request.params;
    const { entry } = await enterForWriting(context, request, collection);
    await deleteRecord(pool, { collection: entry.key, id, ...toExpected(request) });
    context.announceChange();
    return reply.code(204).send();
  });
}

function addCollectionRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  const { pool } = context;
  scope.post("/collections", { bodyLimit: MAX_COLLECTION_BYTES }, async (request, reply) => {
    const reader = await context.readerOf(request);
    const owner = requireOwner(reader, readSingle(request));
    const record = prepareCollection(context, requireObject(request.body));
    await insertCollection(pool, { record, ...owner });
    context.announceChange();
    void reply.code(201).header("location", collectionUrl(stacRoot(request), record.id));
    return sendStored(context, request, reply, { collection: record.id });
  });
  scope.put<CollectionParams>(
    "/collections/:collection",
    { bodyLimit: MAX_COLLECTION_BYTES },
    async (request, reply) => {
      const { entry } = await enterForWriting(context, request, request.params.collection);
      const isPublic = readVisibility(readSingle(request));
      const record = prepareCollection(context, requireObject(request.body));
      requireSameId(record, entry.id);
      await writeRecords(pool, [record], { mode: "replace", collection: entry.key, ...toExpected(request) });
      if (isPublic !== undefined) {
        await setVisibility(pool, entry.key, isPublic);
      }
      context.announceChange();
      return sendStored(context, request, reply, { collection: entry.id });
    },
  );
  scope.patch<CollectionParams>("/collections/:collection", async (request, reply) => {
    const { reader, entry } = await enterForWriting(context, request, request.params.collection);
    const patch = readPatch(request);
    await changeStored(context, request, { reader, collection: entry, id: entry.id, isCollection: true }, (stored) => {
      const record = prepareCollection(context, toBody(patch(JSON.parse(stored))));
      requireSameId(record, entry.id);
      return record;
    });
    return sendStored(context, request, reply, { collection: entry.id });
  });
  scope.delete<CollectionParams>("/collections/:collection", async (request, reply) => {
    const { entry } = await enterForWriting(context, request, request.params.collection);
    if (entry.id === MAIN_COLLECTION || entry.id.startsWith("metadata:")) {
      throw problem(409, "Conflict", `${entry.id} is part of the catalogue; delete its items instead.`);
    }
    await deleteCollection(pool, entry.key);
    context.announceChange();
    context.wakeIndexes();
    return reply.code(204).send();
  });
}

/** The items of a body: one, or those of an item collection. Large bodies are read in a thread. */
async function prepareBody(
  context: CatalogueContext,
  request: FastifyRequest,
  collection: string,
): Promise<{ readonly records: readonly PreparedRecord[]; readonly single?: NewRecord; readonly isSingle?: boolean }> {
  const { bytes } = request.body instanceof RequestBody ? request.body : { bytes: undefined };
  if (bytes !== undefined && bytes.length > MAX_INLINE_BYTES) {
    return context.prepareBatch({ form: "document", bytes, collection });
  }
  const body = requireObject(request.body);
  return body.value["type"] === "FeatureCollection"
    ? { records: prepareItems(context, body, collection).map(prepareRecordCells) }
    : { records: [], single: prepareItem(context, body, collection) };
}

/** The collection, once the caller may change it. @throws {Problem} 404, 401 or 403 */
export async function enterForWriting(
  context: CatalogueContext,
  request: FastifyRequest,
  id: string,
): Promise<{ readonly reader: Reader; readonly entry: CollectionEntry }> {
  const reader = await context.readerOf(request);
  const entry = await findCollection(context.pool, reader, id);
  if (entry === undefined) {
    throw notFound(`Collection ${JSON.stringify(id)}`);
  }
  if (!mayWrite(reader, entry)) {
    throw refusal(request, "Only operators, and owners and writers of the collection's workspace, may change it.");
  }
  return { reader, entry };
}

/** The collection that items are added to; one that was written into a moment ago is not looked up again. @throws {Problem} 404, 401 or 403 */
async function enterForInserting(
  context: CatalogueContext,
  request: FastifyRequest,
  id: string,
): Promise<CollectionEntry> {
  const known = context.collections.find(id);
  if (known !== undefined) {
    const reader = await context.readerOf(request);
    if (mayWrite(reader, known) && (reader.only === undefined || reader.only === known.workspace)) {
      return known;
    }
  }
  const { entry } = await enterForWriting(context, request, id);
  context.collections.remember(entry);
  return entry;
}

/** Inserts an item, into the collection that has the id now where the one that was known is gone. */
async function insertSingle(
  context: CatalogueContext,
  request: FastifyRequest,
  entry: CollectionEntry,
  single: NewRecord,
): Promise<Written> {
  const record = prepareRecordCells(single);
  try {
    return await context.inserts.insert(record, entry.key);
  } catch (error) {
    if (!(error instanceof WriteConflict) || error.reason !== "no-collection") {
      throw error;
    }
    context.collections.forget(entry.id);
    const { key } = await enterForInserting(context, request, entry.id);
    if (key === entry.key) {
      throw error;
    }
    return context.inserts.insert(record, key);
  }
}

/** Who owns a new collection: the platform, or the workspace that `?workspace=` or the host names. */
function requireOwner(
  reader: Reader,
  { workspace: named, visibility }: { readonly workspace?: string; readonly visibility?: string },
): { readonly workspace: string | null; readonly isPublic: boolean } {
  const isPublic = readVisibility({ visibility });
  const workspace = reader.only ?? named ?? null;
  if (named !== undefined && named !== workspace) {
    throw badParameter("workspace", `must be ${workspace ?? ""} on this host`);
  }
  if (!mayWrite(reader, { workspace })) {
    throw problem(
      403,
      "Forbidden",
      "Only operators create collections of the platform; name a workspace that you may write with ?workspace=<name>.",
    );
  }
  return { workspace, isPublic: isPublic ?? workspace === null };
}

/** Whether a collection is to be public; `undefined` where nothing is said. */
function readVisibility({ visibility }: { readonly visibility?: string | undefined }): boolean | undefined {
  if (visibility !== undefined && visibility !== "public" && visibility !== "workspace") {
    throw badParameter("visibility", "must be public or workspace");
  }
  return visibility === undefined ? undefined : visibility === "public";
}

function refusal(request: FastifyRequest, description: string): Error {
  const isKnown = request.headers.authorization !== undefined;
  return isKnown
    ? problem(403, "Forbidden", description)
    : problem(401, "Unauthorized", `${description} Send an access token.`);
}

/** Reads, changes and writes a record, again where somebody else was faster. */
async function changeStored(
  context: CatalogueContext,
  request: FastifyRequest,
  {
    reader,
    collection,
    id,
    isCollection,
  }: { reader: Reader; collection: CollectionEntry; id: string; isCollection: boolean },
  change: (text: string) => NewRecord,
): Promise<void> {
  const expected = toExpected(request).expectedVersion;
  const deadline = Date.now() + PATCH_TIMEOUT_MS;
  for (let attempt = 1; ; attempt += 1) {
    const stored = await findRecord(context, { reader, id, collection: collection.id, isCollection });
    if (stored === undefined) {
      throw notFound(JSON.stringify(id));
    }
    const record = change(stored.text);
    try {
      await writeRecords(context.pool, [record], {
        mode: "replace",
        collection: collection.key,
        expectedVersion: expected ?? { n: stored.n, version: stored.version },
      });
      context.announceChange();
      return;
    } catch (error) {
      const isRaced = (error as { reason?: string }).reason === "changed" && expected === undefined;
      if (!isRaced || Date.now() > deadline) {
        throw error;
      }
      // Writers of the same record must not meet again at the same moment.
      await sleep(Math.random() * Math.min(2 ** attempt, MAX_PATCH_DELAY_MS));
    }
  }
}

/** `If-Match` of the request. @throws {Problem} 412 for an ETag that is none of this catalogue's */
export function toExpected(request: FastifyRequest): {
  readonly expectedVersion?: { readonly n: string; readonly version: number };
} {
  const { "if-match": tag } = request.headers;
  if (tag === undefined || tag === "*") {
    return {};
  }
  const match = /^"(\d{1,18})-(\d{1,9})"$/.exec(tag.trim());
  if (match?.[1] === undefined) {
    throw problem(412, "PreconditionFailed", "If-Match must be the ETag that the record was read with.");
  }
  return { expectedVersion: { n: match[1], version: Number(match[2]) } };
}

function requireSameId({ id }: NewRecord, requested: string): void {
  if (id !== requested) {
    throw problem(
      400,
      "InvalidDocument",
      `/id must be ${JSON.stringify(requested)} as in the address, not ${JSON.stringify(id)}.`,
    );
  }
}

function refuseTwins(records: readonly Pick<PreparedRecord, "id">[]): void {
  const ids = new Set<string>();
  for (const { id } of records) {
    if (ids.has(id)) {
      throw problem(400, "InvalidDocument", `The id ${JSON.stringify(id)} occurs twice.`);
    }
    ids.add(id);
  }
}

const toBody = (value: unknown): JsonBody => ({ text: JSON.stringify(value), value });

async function sendStored(
  context: CatalogueContext,
  request: FastifyRequest,
  reply: Parameters<typeof sendRecord>[0],
  { collection, id }: { readonly collection: string; readonly id?: string },
): Promise<typeof reply> {
  const reader = await context.readerOf(request);
  const isCollection = id === undefined;
  const record = await findRecord(context, { reader, id: id ?? collection, collection, isCollection });
  if (record === undefined) {
    // Deleted by somebody else meanwhile; what was asked for has been done all the same.
    return reply.send();
  }
  const links = linkContextOf(context, request);
  return sendRecord(reply, record, isCollection ? renderCollection(links, record) : renderItem(links, record));
}
