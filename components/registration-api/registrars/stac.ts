import { StacError, type StacCollection, type StacLink, walkItems } from "@swath/stac";

import type { LocatedItem } from "../catalogue/writer.ts";
import { RegistrationError } from "../queue/errors.ts";
import type { Registrar, TaskContext } from "../queue/run-task.ts";
import type { RecordProblem } from "../store/problems.ts";
import { followSource } from "../store/watched-objects.ts";
import { normalizeItem, normalizeLinks, resolveAssets } from "./normalize-item.ts";
import { toLinks } from "./provenance.ts";
import { createPartFailures } from "./part-failures.ts";
import { createTolerantReader, keepGoodParts, readJson } from "./read-tolerantly.ts";
import { type AddressRequest, type Tools, defaultCollection, readAddressRequest } from "./registrar-context.ts";
import { isScene, registerScene } from "./scene.ts";
import { writeBatch } from "./write-batch.ts";

/** Items that are written at once. */
const BATCH = 500;
/** Documents of one catalogue. */
const MAX_DOCUMENTS = 1_000_000;
const MAX_DEPTH = 64;
const MAX_PLAIN_RESULTS = 1000;

/** Registers what an address leads to: an item, a collection with its items, a whole catalogue, or a scene. */
export function createStacRegistrar(tools: Tools): Registrar {
  return async (context) => {
    const requested = readAddressRequest(context, tools);
    await followResults(tools, context, requested);
    if (isScene(requested.url)) {
      await registerScene(tools, context, requested);
      return;
    }
    await registerCatalog(tools, context, requested);
  };
}

/** Results of a job go from the catalogue when they go from their bucket. */
async function followResults(
  { sources, pool }: Tools,
  { task, signal }: TaskContext,
  { origin, rights }: AddressRequest,
): Promise<void> {
  const { scope, source = "" } = origin;
  if (task.payload["provenance"] === undefined || !source.startsWith("s3://")) {
    return;
  }
  if (await sources.watch(source, { rights, signal })) {
    await followSource(pool, scope, source);
  }
}

async function registerCatalog(tools: Tools, context: TaskContext, requested: AddressRequest): Promise<void> {
  const { sources, writer } = tools;
  const { signal, task } = context;
  const { origin, rights } = requested;
  const links = toLinks(task.payload["provenance"]);
  const options = { rights, signal };
  const failures = createPartFailures();
  const start = await readJson(sources, requested.url, options);
  const root = { href: start.href, value: readRoot(start, failures.note) };
  const met: { readonly collection: StacCollection; readonly href: string }[] = [];
  const batches = new Map<string, LocatedItem[]>();
  const results: { readonly id: string; readonly collection: StacCollection }[] = [];
  let items = 0;
  const flush = async (collection: string): Promise<void> => {
    const batch = batches.get(collection) ?? [];
    batches.delete(collection);
    await context.save();
    await writeBatch(tools, context, { origin, collection, batch });
  };
  const registerMet = async (): Promise<void> => {
    for (const { collection, href } of met.splice(0)) {
      const { id, outcome } = await writer.writeCollection(origin, prepareCollection(collection, href, links));
      context.count({ [outcome]: 1 });
      context.noteRecord(id);
      results.push({ id, collection: { ...collection, assets: resolveAssets(collection.assets ?? {}, href) } });
    }
  };
  const walk = walkItems(root, {
    read: createTolerantReader((href) => readJson(sources, href, options), options, failures),
    maxDocuments: MAX_DOCUMENTS,
    maxDepth: MAX_DEPTH,
    onTooDeep: ({ where, problem }) => failures.note({ record: where, reason: problem }),
    onCollection: (collection, href) => met.push({ collection, href }),
  });
  const readAll = async (): Promise<void> => {
    for await (const { item, href, document } of walk) {
      signal.throwIfAborted();
      items += 1;
      await registerMet();
      const collection = requested.parent ?? item.collection ?? defaultCollection(task.scope);
      const batch = batches.get(collection) ?? [];
      batches.set(collection, batch);
      batch.push({ item: normalizeItem(item, href, links), document: sources.normalize(document) });
      if (batch.length >= BATCH) {
        await flush(collection);
      }
      await context.report(failures.take());
    }
  };
  // What was met before the source failed is registered all the same.
  const failure = await readAll().catch((error: unknown) => ({ error }));
  signal.throwIfAborted();
  await registerMet();
  for (const collection of batches.keys()) {
    await flush(collection);
  }
  if (failure?.error instanceof StacError) {
    failures.note({ record: failure.error.where, reason: failure.error.problem });
  } else if (failure !== undefined) {
    throw failure.error;
  }
  if (items === 0 && task.payload["provenance"] !== undefined) {
    await registerPlainResults(tools, context, requested, results);
  }
  await context.report(failures.take());
  await failures.settle(context);
}

/** Rasters that a job wrote without an item become items of its collection. */
async function registerPlainResults(
  tools: Tools,
  context: TaskContext,
  requested: AddressRequest,
  results: readonly { readonly id: string; readonly collection: StacCollection }[],
): Promise<void> {
  for (const { id, collection } of results) {
    const rasters = Object.values(collection.assets ?? {}).filter(({ href }) => isScene(href));
    for (const { href } of rasters.slice(0, MAX_PLAIN_RESULTS)) {
      await context.save();
      try {
        await registerScene(tools, context, { ...requested, url: href, parent: id });
      } catch (error) {
        if (!(error instanceof RegistrationError) || error.isTransient) {
          throw error;
        }
        await context.report([{ record: href, reason: error.message }]);
      }
    }
  }
}

/** @throws {RegistrationError} where the document is nothing that can be registered */
function readRoot(
  { value, href }: { readonly value: unknown; readonly href: string },
  onProblem: (problem: RecordProblem) => void,
): unknown {
  try {
    return keepGoodParts(value, href, onProblem);
  } catch (error) {
    throw new RegistrationError((error as Error).message, { cause: error });
  }
}

/** A collection as the catalogue takes it. */
export function prepareCollection(
  collection: StacCollection,
  href: string,
  links: readonly StacLink[] = [],
): StacCollection {
  const own = normalizeLinks(collection.links, href);
  return {
    ...collection,
    stac_version: /^0\.|^1\.0\.0-/.test(collection.stac_version) ? "1.0.0" : collection.stac_version,
    links: [...own, ...links],
    ...(collection.assets && { assets: resolveAssets(collection.assets, href) }),
  };
}
