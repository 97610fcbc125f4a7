import { availableParallelism } from "node:os";

import { RasterPool } from "@swath/raster";
import { type Logger, type Settings, createPeer, readList } from "@swath/service";
import { parseBaseMaps } from "@swath/service/base-maps";
import { readOffering } from "@swath/service/offering";
import type { FastifyInstance } from "fastify";

import { createChangeFeed } from "./catalogue/change-feed.ts";
import { createCatalogueClient } from "./catalogue/client.ts";
import type { settings } from "./config.ts";
import { createResponseCache } from "./http/response-cache.ts";
import { createCatalogueSource } from "./layers/catalogue-source.ts";
import { createExternalItems } from "./layers/external-items.ts";
import { createFolderSource } from "./layers/folder-source.ts";
import type { LayerSource } from "./layers/layer.ts";
import type { AssetPlaces } from "./layers/locate-asset.ts";
import { createDataAccessService } from "./service.ts";
import { createCallerKeys } from "./storage/caller-keys.ts";
import { createOwnStorage } from "./storage/own-storage.ts";
import { createPictureCache } from "./tiles/picture-cache.ts";
import { createPictureStore } from "./tiles/picture-store.ts";

/** Without a catalogue and a folder there are no layers; files by their address still work. */
const NO_LAYERS: Omit<LayerSource, "findItemAt"> = {
  list: async () => [],
  find: async () => undefined,
  findBySearch: async () => undefined,
  findItems: async () => [],
};

/** Puts the service together from its settings. */
export async function buildDataAccess(
  provided: Settings<typeof settings>,
  logger: Logger,
): Promise<{ app: FastifyInstance; ready: () => Promise<void>; close: () => Promise<void> }> {
  const baseMaps = parseBaseMaps(provided.BASE_MAPS);
  const pool = new RasterPool({
    threads: provided.THREADS === 0 ? availableParallelism() : provided.THREADS,
    cacheBytes: provided.CACHE_BYTES,
    timeoutMs: provided.REQUEST_TIMEOUT * 1000,
    onError: (error) => logger.error({ err: error }, "raster thread failed"),
  });
  const privateHosts = readList(provided.ALLOWED_HOSTS);
  const offering = readOffering(provided);
  const places: AssetPlaces = {
    privateHosts,
    ...(offering !== undefined && { offering }),
    ...(provided.OBJSTORE_URL !== undefined && {
      storage: {
        url: provided.OBJSTORE_URL,
        publicUrl: provided.OBJSTORE_PUBLIC_URL ?? provided.OBJSTORE_URL,
        region: provided.S3_REGION,
        accessKeyId: provided.OBJSTORE_ROOT_USER,
        secretAccessKey: provided.OBJSTORE_ROOT_PASSWORD,
        buckets: readList(provided.READABLE_BUCKETS),
      },
    }),
  };
  const peer = provided.CATALOGUE_URL === undefined ? undefined : createPeer(provided.CATALOGUE_URL);
  const feed =
    peer === undefined || provided.CATALOGUE_FEED_KEY === undefined
      ? undefined
      : createChangeFeed({
          peer,
          key: provided.CATALOGUE_FEED_KEY,
          onError: (error) =>
            logger.warn({ err: error }, "lost the catalogue's changes; asking it until they are back"),
        });
  const readExternal = provided.EXTERNAL_ITEMS
    ? createExternalItems({ privateHosts, allowPublicUrls: provided.ALLOW_PUBLIC_URLS })
    : undefined;
  const layers: LayerSource =
    peer !== undefined && provided.CATALOGUE_URL !== undefined
      ? createCatalogueSource(
          createCatalogueClient(peer, provided.CATALOGUE_PUBLIC_URL ?? peer.origin, provided.CATALOGUE_URL),
          places,
          feed,
          readExternal,
        )
      : provided.LAYERS_FOLDER !== undefined
        ? createFolderSource(provided.LAYERS_FOLDER, places, readExternal)
        : { ...NO_LAYERS, findItemAt: async (url, _caller, signal) => readExternal?.(url, signal) };
  const store =
    places.storage === undefined || provided.TILE_CACHE_BUCKET === undefined
      ? undefined
      : createPictureStore({
          ...places.storage,
          bucket: provided.TILE_CACHE_BUCKET,
          onError: (error) => logger.warn({ err: error }, "rendered pictures are not kept for a while"),
        });
  const storagePeer = places.storage && createPeer(places.storage.url);
  const app = await createDataAccessService(logger, {
    pool,
    ...(places.storage !== undefined &&
      storagePeer !== undefined && {
        storage: createOwnStorage({ ...places.storage, findKeys: createCallerKeys(storagePeer) }),
      }),
    pictures: createPictureCache({ pool, store, memoryBytes: provided.TILE_CACHE_BYTES }),
    responses: createResponseCache(logger),
    layers,
    privateHosts,
    allowPublicUrls: provided.ALLOW_PUBLIC_URLS,
    title: provided.TITLE,
    baseMaps,
    catalogueUrl: provided.CATALOGUE_PUBLIC_URL,
  });
  return {
    app,
    ready: async () => pool.checkHealth(),
    close: async () => {
      await store?.close();
      await pool.close();
      await feed?.close();
      await peer?.close();
      await storagePeer?.close();
    },
  };
}
