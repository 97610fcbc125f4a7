import { ProductError, readXmlId } from "@swath/products";
import { parseStac } from "@swath/stac";

import type { RecordOutcome } from "../catalogue/record-writer.ts";
import type { LocatedItem } from "../catalogue/writer.ts";
import { RegistrationError } from "../queue/errors.ts";
import type { Registrar, TaskContext } from "../queue/run-task.ts";
import { normalizeItem } from "../registrars/normalize-item.ts";
import { createPartFailures } from "../registrars/part-failures.ts";
import { readJson } from "../registrars/read-tolerantly.ts";
import { type Tools, defaultCollection, readRights } from "../registrars/registrar-context.ts";
import { writeBatch } from "../registrars/write-batch.ts";
import type { ReadOptions } from "../sources/source-types.ts";
import { type Harvester, findHarvester, setCursor } from "../store/harvesters.ts";
import { forgetLinks, keepBelow, noteLinks } from "../store/harvested-links.ts";
import { findReadDocument, forgetReadDocuments, keepReadDocuments } from "../store/read-documents.ts";
import { type Origin, findUnmet, noteUnread } from "../store/records.ts";
import { runBucket } from "./bucket.ts";
import { passes } from "./filter.ts";
import { CLOUD_DATA } from "./cloud-data.ts";
import { runOads } from "./oads.ts";
import type { HarvesterConfig } from "./config.ts";
import { confirmUnchanged } from "./confirm-unchanged.ts";
import { type HarvestedItem, type HarvestedPage, type UnchangedRecord, readPages } from "./pages.ts";
import { readProduct } from "./postprocess.ts";
import { readsProducts } from "./postprocess-names.ts";

const REMOVAL_PAGE = 200;
/** Records that are written at the same time; each is a request of its own. */
const RECORDS_AT_ONCE = 4;

/** Runs a harvester: what its source has is in the catalogue afterwards, and goes on where an earlier attempt ended. */
export function createHarvestRegistrar(tools: Tools): Registrar {
  return async (context) => {
    const { task } = context;
    const name = String(task.payload["harvester"]);
    const harvester = await findHarvester(tools.pool, task.scope, name);
    if (harvester === undefined) {
      throw new RegistrationError(`There is no harvester ${name} any more.`);
    }
    if (harvester.created_by === CLOUD_DATA && readsProducts(harvester.config.postprocess)) {
      await checkDataNetwork(tools, context);
    }
    switch (harvester.config.resource.type) {
      case "Bucket":
        await runBucket(tools, context, harvester);
        break;
      case "OADS":
        await runOads(tools, context, harvester);
        await endRun(tools, context, harvester, []);
        break;
      default:
        await endRun(tools, context, harvester, await runPages(tools, context, harvester));
    }
  };
}

/** A provider's data are read inside its cloud only. @throws {RegistrationError} saying so */
async function checkDataNetwork({ sources, offeredBucket }: Tools, { task, signal }: TaskContext): Promise<void> {
  if (offeredBucket === undefined) {
    return;
  }
  try {
    await sources.list(`s3://${offeredBucket}/`, { rights: readRights(task.payload), signal }).next();
  } catch (error) {
    signal.throwIfAborted();
    throw new RegistrationError(
      `The data network of the cloud provider cannot be read: ${(error as Error).message} CLOUDDATA_DATA_SPECIFICATION works only inside that provider's cloud, with access to its data network; CLOUDDATA_S3_ENDPOINT, CLOUDDATA_S3_ACCESS_KEY and CLOUDDATA_S3_SECRET_KEY say how to reach it.`,
      { isTransient: true, cause: error },
    );
  }
}

/** @returns addresses of catalogues of the source that could not be read */
async function runPages(tools: Tools, context: TaskContext, harvester: Harvester): Promise<readonly string[]> {
  const { config, cursor } = harvester;
  const { task, signal } = context;
  const origin: Origin = { scope: task.scope, sequence: task.id, harvester: harvester.name };
  const rights = readRights(task.payload);
  // Deletions are found by what a whole run does not meet.
  const since = config.incremental !== undefined && !config.deletions ? cursor?.since : undefined;
  const failures = createPartFailures();
  const withProducts = readsProducts(config.postprocess);
  const pages = readPages(config, {
    sources: tools.sources,
    read: { rights, signal },
    failures,
    position: task.position,
    ...(since !== undefined && { since }),
    findKnown: (address) => findReadDocument(tools.pool, harvester, address),
  });
  /** What is broken at its source for now is not gone from it. */
  const keep = async (names: readonly string[]): Promise<void> => {
    if (config.deletions) {
      const known = names.map(tools.sources.normalize);
      await noteUnread(tools.pool, { scope: task.scope, harvester: harvester.name, run: task.id, names: known });
    }
  };
  for await (const page of pages) {
    signal.throwIfAborted();
    const gone = await confirmUnchanged(tools, context, origin, page.unchanged ?? []);
    const found = [...page.items, ...(await readAgain(tools.sources, { ...config.resource, rights, signal }, gone))];
    const items = found.filter(({ item }) => passes(config.filter, item.properties));
    await context.report(page.problems);
    const ready = withProducts ? await readProducts(tools, context, items) : items;
    const refused = new Set<string>();
    for (const [collection, batch] of groupByCollection(ready, config.collection, task.scope)) {
      (await writeBatch(tools, context, { origin, collection, batch })).forEach((id) => refused.add(id));
    }
    await writeRecords(tools, context, origin, page);
    if (config.deletions) {
      await noteLinks(tools.pool, { scope: task.scope, harvester: harvester.name, run: task.id }, page.links ?? []);
    }
    // Those that were refused are read and named again at the next run.
    const written = ready.flatMap(({ item, read }) => (read === undefined || refused.has(item.id) ? [] : [read]));
    await keepReadDocuments(tools.pool, harvester, [...(page.catalogs ?? []), ...written]);
    const isReady = new Set(ready.map(({ document }) => document));
    const missed = items.flatMap(({ item, document = "" }) => (isReady.has(document) ? [] : [item.id, document]));
    await keep([
      ...page.problems.flatMap(({ record, isGone }) => (isGone === true ? [] : [record])),
      ...missed,
      ...refused,
    ]);
    await context.save(page.next);
  }
  await keep((await failures.settle(context)).map(({ record }) => record));
  return failures.missedCatalogs().map(tools.sources.normalize);
}

/** The items of documents whose records somebody took out of the catalogue. */
async function readAgain(
  sources: Tools["sources"],
  { headers, rights, signal }: Pick<HarvesterConfig["resource"], "headers"> & Pick<ReadOptions, "rights" | "signal">,
  gone: readonly UnchangedRecord[],
): Promise<readonly HarvestedItem[]> {
  const items: HarvestedItem[] = [];
  for (const { document } of gone) {
    const { value, href } = await readJson(sources, document, { headers, rights, signal });
    const item = parseStac(value, href);
    if (item.type === "Feature") {
      items.push({
        item: normalizeItem(item, href),
        document,
        ...(item.collection !== undefined && { collection: item.collection }),
      });
    }
  }
  return items;
}

/** After everything that the source has: what is gone from it goes here, if that is wanted. */
async function endRun(
  tools: Tools,
  context: TaskContext,
  harvester: Harvester,
  missed: readonly string[],
): Promise<void> {
  const { name, config } = harvester;
  if (config.deletions) {
    const run = { scope: context.task.scope, harvester: name, run: context.task.id };
    if (missed.length > 0) {
      const reason = "Parts of the catalogue cannot be read; nothing that was below them was taken out in this run.";
      await context.report([{ record: config.resource.url, reason }]);
      await keepBelow(tools.pool, run, missed);
    }
    await removeUnmet(tools, context, name);
    await forgetLinks(tools.pool, run);
  }
  await forgetReadDocuments(tools.pool, harvester);
  await setCursor(tools.pool, harvester, (context.task.started_at ?? new Date()).toISOString());
}

/** Records that are no STAC, each by itself: one that is refused holds no other up. */
async function writeRecords(
  { writer }: Tools,
  context: TaskContext,
  origin: Origin,
  { records = [], xml = [] }: HarvestedPage,
): Promise<void> {
  const write = async (name: string, work: () => Promise<RecordOutcome>): Promise<void> => {
    try {
      context.count({ [await work()]: 1 });
    } catch (error) {
      if (!(error instanceof ProductError) && !(error instanceof RegistrationError && !error.isTransient)) {
        throw error;
      }
      await context.report([{ record: name, reason: error.message }]);
    }
  };
  const pending = [
    ...records.map((record) => () => write(record.id, () => writer.writeRecord(origin, record))),
    ...xml.map(
      (document, index) => () =>
        write(`record ${index + 1} of a page`, async () =>
          writer.writeXml(origin, await readXmlId(Buffer.from(document), "The record"), document),
        ),
    ),
  ].values();
  const work = async (): Promise<void> => {
    for (const next of pending) {
      await next();
    }
  };
  await Promise.all(Array.from({ length: RECORDS_AT_ONCE }, work));
}

async function readProducts(
  tools: Tools,
  context: TaskContext,
  items: HarvestedPage["items"],
): Promise<HarvestedPage["items"]> {
  const ready: HarvestedPage["items"][number][] = [];
  for (const found of items) {
    try {
      const item = await readProduct(tools, context, { item: found.item, rights: {} });
      ready.push({ ...found, item, ...(item.collection !== undefined && { collection: item.collection }) });
    } catch (error) {
      if (!(error instanceof ProductError) && !(error instanceof RegistrationError && !error.isTransient)) {
        throw error;
      }
      await context.report([{ record: found.item.id, reason: (error as Error).message }]);
    }
    await context.save();
  }
  return ready;
}

function groupByCollection(
  items: HarvestedPage["items"],
  requested: string | undefined,
  scope: string,
): ReadonlyMap<string, readonly LocatedItem[]> {
  const groups = new Map<string, LocatedItem[]>();
  for (const { collection = defaultCollection(scope), item, document } of items) {
    const { collection: _collection, ...rest } = item;
    const key = requested ?? collection;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push({ item: rest, ...(document !== undefined && { document }) });
  }
  return groups;
}

async function removeUnmet(tools: Tools, context: TaskContext, harvester: string): Promise<void> {
  const { task } = context;
  for (;;) {
    const gone = await findUnmet(tools.pool, { scope: task.scope, harvester, run: task.id, limit: REMOVAL_PAGE });
    if (gone.length === 0) {
      return;
    }
    await context.save();
    const removed = await tools.writer.removeRecords({ scope: task.scope, sequence: task.id, harvester }, gone);
    context.count({ removed });
  }
}
