import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { Reader } from "../access/reader.ts";
import { type CatalogueContext, baseOf } from "../http/context.ts";
import { invalidDocument, problem } from "../http/errors.ts";
import { type JsonBody, RequestBody, requireObject } from "../http/json-body.ts";
import { readPatch } from "../http/patch.ts";
import { XmlBody, prepareXml } from "../http/xml-body.ts";
import { checkOgcRecord, ogcRecordToRecord } from "../model/from-ogc-record.ts";
import type { NewRecord } from "../model/record.ts";
import { guardDocument, prepareItem } from "../stac/prepare.ts";
import { enterForWriting, toExpected } from "../stac/transactions.ts";
import { sendRecord } from "../stac/respond.ts";
import { deleteRecord } from "../store/delete-records.ts";
import { writeRecords } from "../store/write-records.ts";
import { ogcRecordUrl } from "./links.ts";
import { findInScope, renderRecord, sendFiltered } from "./records.ts";

const MAX_RECORD_BYTES = 8 * 2 ** 20;

interface ItemParams {
  readonly Params: { readonly collection: string; readonly id: string };
}

/** Records are written (Features Part 4, draft of Records Part 3): ISO 19139 and Dublin Core by their content type; STAC items and OGC records
 * are told apart by `stac_version`. */
export function addOgcTransactionRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  const { pool } = context;
  scope.post<{ Params: { collection: string } }>(
    "/collections/:collection/items",
    { bodyLimit: MAX_RECORD_BYTES },
    async (request, reply) => {
      const { collection } = request.params;
      const filter = readFilter(request.body);
      if (filter !== undefined) {
        return sendFiltered(context, request, reply, { collection, filter });
      }
      const { reader, entry } = await enterForWriting(context, request, collection);
      const record = await prepareBody(context, request, entry.id);
      await writeRecords(pool, [record], { mode: "insert", collection: entry.key });
      context.announceChange();
      void reply.code(201).header("location", ogcRecordUrl(baseOf(request), entry.id, record.id));
      return sendStored(context, request, reply, { reader, collection, id: record.id });
    },
  );
  scope.put<ItemParams>(
    "/collections/:collection/items/:id",
    { bodyLimit: MAX_RECORD_BYTES },
    async (request, reply) => {
      const { collection, id } = request.params;
      const { reader, entry } = await enterForStored(context, request, { collection, id });
      const record = await prepareBody(context, request, entry.id);
      requireId(record, id);
      await writeRecords(pool, [record], { mode: "replace", collection: entry.key, ...toExpected(request) });
      context.announceChange();
      return sendStored(context, request, reply, { reader, collection, id });
    },
  );
  scope.patch<ItemParams>("/collections/:collection/items/:id", async (request, reply) => {
    const { collection, id } = request.params;
    const { reader, entry, stored } = await enterForStored(context, request, { collection, id });
    const value = readPatch(request)(JSON.parse(stored.text));
    const record = prepareRecord(context, { text: JSON.stringify(value), value }, entry.id);
    requireId(record, id);
    const expectedVersion = toExpected(request).expectedVersion ?? { n: stored.n, version: stored.version };
    await writeRecords(pool, [record], { mode: "replace", collection: entry.key, expectedVersion });
    context.announceChange();
    return sendStored(context, request, reply, { reader, collection, id });
  });
  scope.delete<ItemParams>("/collections/:collection/items/:id", async (request, reply) => {
    const { collection, id } = request.params;
    const { entry } = await enterForStored(context, request, { collection, id });
    await deleteRecord(pool, { collection: entry.key, id, ...toExpected(request) });
    context.announceChange();
    return reply.code(204).send();
  });
}

/** Text of a body that is a filter in CQL2 JSON, an operator with its operands, and no record. */
function readFilter(body: unknown): string | undefined {
  if (!(body instanceof RequestBody)) {
    return undefined;
  }
  const { text, value } = body;
  const { op, args, type } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof op === "string" && Array.isArray(args) && type === undefined ? text : undefined;
}

/** A record in any form that the catalogue keeps. @throws {Problem} 400 with everything that is wrong with it */
function prepareBody(context: CatalogueContext, request: FastifyRequest, collection: string): Promise<NewRecord> {
  const { body } = request;
  return body instanceof XmlBody
    ? prepareXml(body)
    : Promise.resolve(prepareRecord(context, requireObject(body), collection));
}

/** A STAC item or an OGC record. @throws {Problem} 400 with everything that is wrong with it */
export function prepareRecord(context: CatalogueContext, body: JsonBody, collection: string): NewRecord {
  const value = (body.value ?? {}) as Readonly<Record<string, unknown>>;
  if (value["stac_version"] !== undefined) {
    return prepareItem(context, body, collection);
  }
  const issues = checkOgcRecord(value);
  if (issues.length > 0) {
    throw invalidDocument("The record", issues);
  }
  return guardDocument("The record", body, () => ogcRecordToRecord(body.text, value));
}

/** The collection that a record is in, once the caller may change it: `metadata:main` shows records of all. */
async function enterForStored(
  context: CatalogueContext,
  request: FastifyRequest,
  { collection, id }: { readonly collection: string; readonly id: string },
): Promise<Awaited<ReturnType<typeof enterForWriting>> & { stored: Awaited<ReturnType<typeof findInScope>> }> {
  const reader = await context.readerOf(request);
  const stored = await findInScope(context, reader, collection, id);
  if (stored.kind === "c") {
    throw problem(409, "Conflict", `${id} is a collection; change it at /stac/collections/${encodeURIComponent(id)}.`);
  }
  return { ...(await enterForWriting(context, request, stored.collection)), stored };
}

function requireId({ id }: NewRecord, requested: string): void {
  if (id !== requested) {
    throw invalidDocument("The record", [
      { path: "/id", rule: `must be ${JSON.stringify(requested)} as in the address`, value: id },
    ]);
  }
}

async function sendStored(
  context: CatalogueContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { reader, collection, id }: { readonly reader: Reader; readonly collection: string; readonly id: string },
): Promise<FastifyReply> {
  const record = await findInScope(context, reader, collection, id);
  return sendRecord(
    reply,
    record,
    JSON.stringify(renderRecord(baseOf(request), collection, record, context.viewLinks)),
  );
}
