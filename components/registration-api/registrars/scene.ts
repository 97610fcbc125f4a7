import type { BandStatistics } from "@swath/raster";
import type { StacItem } from "@swath/stac";
import { ProductError, convertRaster, findProduct } from "@swath/products";

import { RegistrationError } from "../queue/errors.ts";
import type { TaskContext } from "../queue/run-task.ts";
import { describeProduct } from "./product.ts";
import { toLinks } from "./provenance.ts";
import { type AddressRequest, type Tools, defaultCollection } from "./registrar-context.ts";
import { toRegistrationError } from "./raster-failure.ts";
import { writeBatch } from "./write-batch.ts";

const RASTER = /\.(?:tiff?|jp2)(?:[?#]|$)/i;

/** Whether an address names a scene rather than STAC. */
export const isScene = (url: string): boolean => findProduct(url) !== undefined || RASTER.test(url);

/** Registers a scene as its agency delivers it, or a raster that comes alone. */
export async function registerScene(tools: Tools, context: TaskContext, requested: AddressRequest): Promise<void> {
  const { url, parent, origin } = requested;
  const item = await describeScene(tools, context, requested).catch((error: unknown) => {
    throw error instanceof ProductError ? new RegistrationError(`${url}: ${error.message}`, { cause: error }) : error;
  });
  context.signal.throwIfAborted();
  const links = toLinks(context.task.payload["provenance"]);
  const collection = parent ?? item.collection ?? defaultCollection(context.task.scope);
  const { collection: _collection, ...rest } = item;
  await writeBatch(tools, context, {
    origin,
    collection,
    batch: [
      {
        item: addPreview({ ...rest, links: [...item.links, ...links] }, collection, tools.dataAccessUrl),
        document: tools.sources.normalize(url),
      },
    ],
  });
}

async function describeScene(tools: Tools, context: TaskContext, requested: AddressRequest): Promise<StacItem> {
  return findProduct(requested.url) === undefined
    ? describeRaster(tools, context, requested)
    : describeProduct(tools, context, requested);
}

/** The item of a raster, with the statistics of its bands. */
async function describeRaster(
  { rasters, sources }: Tools,
  { signal, task }: TaskContext,
  { url, rights }: AddressRequest,
): Promise<StacItem> {
  const href = sources.toHref(sources.normalize(url));
  const location = sources.locate(url, rights);
  try {
    const described = await rasters.describe(location, signal);
    const names = described.info.bands.slice(0, MAX_BANDS_WITH_STATISTICS).map((_, index) => `b${index + 1}`);
    const statistics = await rasters.statistics(
      { scenes: [{ assets: { data: { location } } }], grid: { maxSize: STATISTICS_SIZE }, expressions: names },
      signal,
    );
    return convertRaster(
      { href, described, statistics: names.map((name) => statistics[name] as BandStatistics) },
      { fallbackTime: task.created_at.toISOString() },
    );
  } catch (error) {
    throw toRegistrationError(error, url);
  }
}

const MAX_BANDS_WITH_STATISTICS = 32;
/** Pixels of the longer side that statistics are made of. */
const STATISTICS_SIZE = 512;

/** A picture by data access, unless the scene brings one. */
function addPreview(item: StacItem, collection: string, dataAccessUrl: string | undefined): StacItem {
  const hasOne = Object.values(item.assets).some(({ roles }) => roles?.includes("thumbnail") === true);
  const { datetime } = item.properties;
  if (dataAccessUrl === undefined || hasOne || item.bbox === undefined || typeof datetime !== "string") {
    return item;
  }
  const query = new URLSearchParams({ bbox: item.bbox.join(","), datetime, width: "512", f: "png" });
  const href = `${dataAccessUrl}/collections/${encodeURIComponent(collection)}/map?${query.toString()}`;
  return {
    ...item,
    assets: { ...item.assets, thumbnail: { href, type: "image/png", title: "Preview", roles: ["thumbnail"] } },
  };
}
