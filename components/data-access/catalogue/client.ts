import { type Peer, Problem } from "@swath/service";

import type { Caller } from "../layers/layer.ts";
import { catalogueHostFor } from "./hosts.ts";
import { findItemPath } from "./item-address.ts";

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly method?: "GET" | "POST" | "PATCH";
  readonly body?: unknown;
}

/** The resource catalogue, asked in the name of who asks this service. */
export interface CatalogueClient {
  readonly publicUrl: string;
  /** The path below `/stac` of the item at an address of this catalogue; `undefined` for any other address. */
  readonly findItemPath: (url: string) => string | undefined;
  /** The JSON at a path below `/stac`; `undefined` where the catalogue says that there is nothing. */
  readonly call: (path: string, caller: Caller, options?: CallOptions) => Promise<unknown>;
  /** Where the catalogue leads who asks for an asset; `undefined` where it leads nowhere. */
  readonly findAssetLink: (
    asset: { readonly collection: string; readonly item: string; readonly key: string },
    caller: Caller,
    signal: AbortSignal | undefined,
  ) => Promise<string | undefined>;
}

/** @param internalUrl the peer's address, which records may have as their own */
export function createCatalogueClient(peer: Peer, publicUrl: string, internalUrl: string): CatalogueClient {
  const { host, protocol } = new URL(publicUrl);
  const headersOf = ({ authorization, hostname }: Caller) => ({
    accept: "application/json",
    // As the ingress says it: the fetch of this run time sets the host itself.
    "x-forwarded-host": catalogueHostFor(hostname, host),
    "x-forwarded-proto": protocol.slice(0, -1),
    ...(authorization !== undefined && { authorization }),
  });
  return {
    publicUrl,
    findItemPath: (url) => findItemPath(url, { publicUrl, internalUrl }),
    call: async (path, caller, { signal, body, method = body === undefined ? "GET" : "POST" } = {}) => {
      const response = await peer.fetch(`/stac${path}`, {
        method,
        ...(signal && { signal }),
        headers: { ...headersOf(caller), ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      if (!response.ok) {
        throw await toProblem(response);
      }
      return response.json();
    },
    findAssetLink: async ({ collection, item, key }, caller, signal) => {
      const path = `/stac/collections/${encodeURIComponent(collection)}/items/${encodeURIComponent(item)}/assets/${encodeURIComponent(key)}`;
      const response = await peer.fetch(path, {
        redirect: "manual",
        headers: headersOf(caller),
        ...(signal && { signal }),
      });
      await response.body?.cancel();
      if (response.status >= 500) {
        throw new Problem(503, `The catalogue answered with status ${response.status}.`);
      }
      return response.status === 302 ? (response.headers.get("location") ?? undefined) : undefined;
    },
  };
}

/** What the caller did wrong is told in the catalogue's words, anything else is a fault of the platform. */
async function toProblem(response: Awaited<ReturnType<Peer["fetch"]>>): Promise<Problem> {
  const { status } = response;
  const text = (await response.text()).slice(0, 4000);
  const isOwn = status >= 400 && status < 500;
  let detail: unknown;
  try {
    const { detail: said, description } = JSON.parse(text) as { detail?: unknown; description?: unknown };
    detail = said ?? description;
  } catch {
    // No document of the catalogue: its status has to do.
  }
  return new Problem(
    isOwn ? status : 503,
    isOwn && typeof detail === "string" ? detail : `The catalogue answered with status ${status}.`,
  );
}
