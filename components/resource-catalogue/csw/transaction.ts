import { mapInTurns } from "@swath/service/map-in-turns";
import type pg from "pg";

import { type Reader, mayWrite } from "../access/reader.ts";
import type { CatalogueContext } from "../http/context.ts";
import type { NewRecord, StoredRecord } from "../model/record.ts";
import { xmlToRecord } from "../model/from-xml.ts";
import { allOf } from "../query/expression.ts";
import { findCollection } from "../store/collections.ts";
import { prepareRecordCells } from "../store/record-columns.ts";
import { searchRecords } from "../store/search.ts";
import { deleteInTransaction } from "../store/delete-records.ts";
import { inTransactionBetweenLoads, lockForLoading } from "../store/load-lock.ts";
import { writeInTransaction } from "../store/write-records.ts";
import { cutElement } from "../xml/cut.ts";
import { type XmlElement, childOf } from "../xml/element.ts";
import { element } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import type { CswCall, CswResponse } from "./context.ts";
import { enterMainCollection } from "./enter.ts";
import { parseCqlText } from "./cql-text.ts";
import { parseFilterXml } from "./filter-xml.ts";
import { readConstraint } from "./input.ts";
import { OwsError } from "./ows-error.ts";
import { changeRecord, readChanges } from "./record-properties.ts";
import { toCatalogue } from "./to-catalogue.ts";
import { DIALECTS } from "./versions.ts";

/** Records that one transaction may write or delete. */
const MAX_RECORDS = 10_000;
/** Records of one statement: to put it together takes milliseconds. */
const BATCH_RECORDS = 200;

interface Plan {
  readonly inserted: NewRecord[];
  readonly replaced: NewRecord[];
  /** Updates of single properties, and deletions. */
  readonly changed: { readonly stored: StoredRecord; readonly record: NewRecord }[];
  readonly deleted: StoredRecord[];
}

/** Transaction (OGC 07-006r1 §10.11, OGC 12-176r7 §7.6): all of it, or nothing. */
export async function transact(call: CswCall): Promise<CswResponse> {
  const { context, request, input } = call;
  const { document } = input;
  if (document === undefined) {
    throw new OwsError("MissingParameterValue", "Transaction", "A transaction must be sent as a document, by POST.");
  }
  const { reader, entry } = await enterMainCollection(context, request);
  const plan: Plan = { inserted: [], replaced: [], changed: [], deleted: [] };
  for (const action of document.request.children) {
    await addAction(call, reader, action, plan);
  }
  refuseTwins([...plan.inserted, ...plan.replaced]);
  const keys = await readKeys(context, reader, [...plan.changed.map(({ stored }) => stored), ...plan.deleted]);
  await inTransactionBetweenLoads(context.pool, (client) => execute(client, plan, entry.key, keys));
  context.announceChange();
  return { body: await render(call, plan) };
}

async function addAction({ context, input }: CswCall, reader: Reader, action: XmlElement, plan: Plan): Promise<void> {
  const text = input.document?.text ?? "";
  const toRecord = (child: XmlElement): NewRecord => xmlToRecord(child, Buffer.from(cutElement(text, child)));
  // Before any is read: reading 25,000 takes seconds.
  requireFew(countOf(plan) + (action.name === "Delete" ? 0 : action.children.length));
  switch (action.name) {
    case "Insert":
      if (action.children.length === 0) {
        throw new OwsError("MissingParameterValue", "Insert", "Insert must hold records.");
      }
      plan.inserted.push(...(await mapInTurns(action.children, toRecord)));
      break;
    case "Update": {
      const whole = action.children.filter(({ name }) => name !== "RecordProperty" && name !== "Constraint");
      if (whole.length > 0) {
        plan.replaced.push(...(await mapInTurns(whole, toRecord)));
        break;
      }
      const changes = readChanges(action);
      for (const stored of await findConstrained(context, reader, action)) {
        plan.changed.push({ stored, record: await changeRecord(context, stored, changes) });
      }
      break;
    }
    case "Delete":
      plan.deleted.push(...(await findConstrained(context, reader, action)));
      break;
    default:
      throw new OwsError(
        "InvalidParameterValue",
        "Transaction",
        `A transaction holds Insert, Update and Delete, not ${action.name.slice(0, 60)}.`,
      );
  }
  requireFew(countOf(plan));
}

const countOf = ({ inserted, replaced, changed, deleted }: Plan): number =>
  inserted.length + replaced.length + changed.length + deleted.length;

function requireFew(count: number): void {
  if (count > MAX_RECORDS) {
    throw new OwsError(
      "InvalidParameterValue",
      "Transaction",
      `A transaction may have at most ${MAX_RECORDS} records; send several.`,
    );
  }
}

/** The records that a constraint names, all of which the caller may change. @throws {OwsError} */
async function findConstrained(
  context: CatalogueContext,
  reader: Reader,
  action: XmlElement,
): Promise<readonly StoredRecord[]> {
  const constraint = readConstraint(childOf(action, "Constraint"));
  if (constraint === undefined) {
    throw new OwsError("MissingParameterValue", "Constraint", `${action.name} must have a Constraint.`);
  }
  const parsed =
    constraint.filter === undefined ? parseCqlText(constraint.cql ?? "") : parseFilterXml(constraint.filter);
  if (parsed === undefined) {
    throw new OwsError("InvalidParameterValue", "Constraint", "The Filter must not be empty.");
  }
  const filter = allOf([toCatalogue(parsed)]);
  const { records, next } = await searchRecords(context, {
    reader,
    kinds: ["i", "r"],
    limit: MAX_RECORDS,
    countUpTo: 0,
    ...(filter && { filter }),
  });
  if (next !== undefined) {
    throw new OwsError(
      "InvalidParameterValue",
      "Constraint",
      `The Constraint must match at most ${MAX_RECORDS} records.`,
    );
  }
  const foreign = records.find((record) => !mayWrite(reader, record));
  if (foreign !== undefined) {
    throw new OwsError(
      "TransactionFailed",
      "Constraint",
      `The record ${JSON.stringify(foreign.id)} is not yours to change; nothing was changed.`,
      { status: 403 },
    );
  }
  return records;
}

function refuseTwins(records: readonly NewRecord[]): void {
  const ids = new Set<string>();
  for (const { id } of records) {
    if (ids.has(id)) {
      throw new OwsError("InvalidParameterValue", "identifier", `The identifier ${JSON.stringify(id)} occurs twice.`);
    }
    ids.add(id);
  }
}

/** Keys of the collections that records are in, by their ids. */
async function readKeys(
  context: CatalogueContext,
  reader: Reader,
  records: readonly StoredRecord[],
): Promise<ReadonlyMap<string, number>> {
  const ids = [...new Set(records.map(({ collection }) => collection))];
  const entries = await Promise.all(ids.map((id) => findCollection(context.pool, reader, id)));
  return new Map(entries.flatMap((entry) => (entry === undefined ? [] : [[entry.id, entry.key]])));
}

async function execute(
  client: pg.PoolClient,
  plan: Plan,
  main: number,
  keys: ReadonlyMap<string, number>,
): Promise<void> {
  const mode = plan.inserted.length + plan.replaced.length > BATCH_RECORDS ? "exclusive" : "shared";
  for (const key of [...new Set([main, ...keys.values()])].toSorted((a, b) => a - b)) {
    await lockForLoading(client, key, key === main ? mode : "shared");
  }
  await writeInBatches(client, plan.inserted, { mode: "insert", collection: main });
  await writeInBatches(client, plan.replaced, { mode: "replace", collection: main });
  // In the order of ids, as all writers lock them.
  const changed = plan.changed.toSorted((a, b) => (a.stored.id < b.stored.id ? -1 : 1));
  for (const { stored, record } of changed) {
    const { n, version } = stored;
    await writeInTransaction(client, [prepareRecordCells(record)], {
      mode: "replace",
      collection: keys.get(stored.collection) ?? 0,
      expectedVersion: { n, version },
    });
  }
  for (const { collection, id } of plan.deleted.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    await deleteInTransaction(client, { collection: keys.get(collection) ?? 0, id });
  }
}

async function writeInBatches(
  client: pg.PoolClient,
  records: readonly NewRecord[],
  options: Parameters<typeof writeInTransaction>[2],
): Promise<void> {
  // In the order of ids over all batches, as all writers lock them.
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (let from = 0; from < sorted.length; from += BATCH_RECORDS) {
    const batch = await mapInTurns(sorted.slice(from, from + BATCH_RECORDS), prepareRecordCells);
    await writeInTransaction(client, batch, options);
  }
}

async function render(
  { input: { version, parameters } }: CswCall,
  { inserted, replaced, changed, deleted }: Plan,
): Promise<string> {
  const { csw, schema } = DIALECTS[version];
  const requestId = parameters.get("requestid");
  const totals = [
    element("csw:totalInserted", inserted.length),
    element("csw:totalUpdated", replaced.length + changed.length),
    element("csw:totalDeleted", deleted.length),
  ];
  return `<csw:TransactionResponse xmlns:csw="${csw}" xmlns:dc="${NS.dc}" xmlns:xsi="${NS.xsi}" version="${version}" xsi:schemaLocation="${csw} ${schema}"><csw:TransactionSummary${requestId === undefined ? "" : ` requestId="${requestId.replaceAll(/[&<>"]/g, "")}"`}>${totals.join("")}</csw:TransactionSummary>${await renderInserted(inserted)}</csw:TransactionResponse>`;
}

/** What was written, in brief. */
export async function renderInserted(records: readonly NewRecord[]): Promise<string> {
  const brief = await mapInTurns(records, ({ id, type, document }) => {
    const { properties } = JSON.parse(document.text) as { properties: { title?: string } };
    return `<csw:BriefRecord>${element("dc:identifier", id)}${element("dc:title", properties.title ?? id)}${element("dc:type", type)}</csw:BriefRecord>`;
  });
  return brief.length === 0 ? "" : `<csw:InsertResult>${brief.join("")}</csw:InsertResult>`;
}
