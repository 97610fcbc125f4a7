import { toObjectUrl } from "@swath/s3";
import type { FastifyInstance } from "fastify";

import type { Reader } from "../access/reader.ts";
import type { CatalogueContext } from "../http/context.ts";
import { notFound, problem } from "../http/errors.ts";
import type { StoredRecord } from "../model/record.ts";

/** How long a signed link may be used. */
const LINK_SECONDS = 900;

/**
 * `/collections/{id}/items/{id}/assets/{key}`: leads whoever may read the item to the asset's file; to a signed link where it lies in the
 * platform's object storage.
 */
export function addAssetRoutes(
  scope: FastifyInstance,
  { readerOf, assetStorage }: Pick<CatalogueContext, "readerOf" | "assetStorage">,
  find: (reader: Reader, collection: string, id: string) => Promise<StoredRecord | undefined>,
): void {
  scope.get<{ Params: { collection: string; id: string; key: string } }>(
    "/collections/:collection/items/:id/assets/:key",
    async (request, reply) => {
      const { collection, id, key } = request.params;
      const record = await find(await readerOf(request), collection, id);
      const { assets } = (record === undefined ? {} : JSON.parse(record.text)) as {
        assets?: Readonly<Record<string, { readonly href?: unknown }>>;
      };
      const href = assets !== undefined && Object.hasOwn(assets, key) ? assets[key]?.href : undefined;
      if (record === undefined || typeof href !== "string") {
        throw notFound(`Asset ${JSON.stringify(key)} of item ${JSON.stringify(id)}`);
      }
      void reply.header("cache-control", "no-store");
      const object = toObject(href, assetStorage?.endpoint);
      if (object === undefined && /^https?:\/\//.test(href)) {
        return reply.redirect(href, 302);
      }
      if (object === undefined || assetStorage === undefined) {
        throw problem(404, "NotFound", `The asset's file is at ${href}, which the catalogue cannot give a link to.`);
      }
      const { bucket, key: name } = object;
      // Whoever writes a workspace's items must not get at the files of others by naming them.
      if (record.workspace !== null && bucket !== record.workspace) {
        throw problem(
          403,
          "Forbidden",
          `Items of ${record.workspace} lead to files of its own bucket only, not of ${bucket}.`,
        );
      }
      const url = toObjectUrl({ endpoint: assetStorage.endpoint, bucket, key: name });
      return reply.redirect(await assetStorage.signer.presign({ url, seconds: LINK_SECONDS }), 302);
    },
  );
}

/** The object of the platform's storage that an address names: `s3://<bucket>/<key>`, or the storage's public address of it. */
function toObject(href: string, endpoint: string | undefined): { bucket: string; key: string } | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(href) ?? [];
  if (bucket !== undefined && key !== undefined) {
    return { bucket, key };
  }
  if (endpoint === undefined || !href.startsWith(`${endpoint}/`) || href.includes("?")) {
    return undefined;
  }
  const [, name, path] = /^([^/]+)\/(.+)$/.exec(href.slice(endpoint.length + 1)) ?? [];
  try {
    return name === undefined || path === undefined
      ? undefined
      : { bucket: decodeURIComponent(name), key: decodeURIComponent(path) };
  } catch {
    return undefined;
  }
}
