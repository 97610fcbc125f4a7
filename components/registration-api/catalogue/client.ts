import { type Peer, createPeer } from "@swath/service";

import { RegistrationError } from "../queue/errors.ts";

interface CatalogueClientOptions {
  /** Internal port of the resource catalogue. */
  readonly url: string;
  /** Its public base URL. */
  readonly publicUrl: string;
  readonly secret: string;
}

export interface CatalogueResponse {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents are looked into where they are used
  readonly body: any;
}

/** The resource catalogue, asked as an operator. */
export interface CatalogueClient {
  /** @param scope the workspace whose collections are meant; empty: the platform */
  readonly send: (scope: string, method: string, path: string, body?: unknown) => Promise<CatalogueResponse>;
  /** Writes items of one collection, all of them or none. */
  readonly sendLines: (scope: string, collection: string, lines: Buffer) => Promise<CatalogueResponse>;
  readonly sendXml: (scope: string, xml: string) => Promise<CatalogueResponse>;
  readonly close: () => Promise<void>;
}

const TIMEOUT_MS = 120_000;

export function createCatalogueClient({ url, publicUrl, secret }: CatalogueClientOptions): CatalogueClient {
  const peer: Peer = createPeer(url);
  const { host, protocol } = new URL(publicUrl);
  const [service = "", ...domain] = host.split(".");
  /** The host of a workspace shows its collections alone. */
  const hostOf = (scope: string): string => (scope === "" ? host : [service, scope, ...domain].join("."));
  const call = async (
    scope: string,
    path: string,
    { method, type, accept, body }: { method: string; type?: string; accept?: string; body?: string | Buffer },
  ): Promise<CatalogueResponse> => {
    const response = await peer.fetch(path, {
      method,
      timeout: TIMEOUT_MS,
      headers: {
        accept: accept ?? "application/json",
        authorization: `Bearer ${secret}`,
        "x-forwarded-host": hostOf(scope),
        "x-forwarded-proto": protocol.slice(0, -1),
        ...(type !== undefined && { "content-type": type }),
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    if (response.status >= 500 || response.status === 429) {
      throw new RegistrationError(`The resource catalogue answered with status ${response.status}.`, {
        isTransient: true,
      });
    }
    return {
      status: response.status,
      body: /json/.test(response.headers.get("content-type") ?? "") && text !== "" ? JSON.parse(text) : text,
    };
  };
  return {
    send: (scope, method, path, body) =>
      call(scope, path, {
        method,
        ...(body !== undefined && { type: "application/json", body: JSON.stringify(body) }),
      }),
    sendLines: (scope, collection, lines) =>
      call(scope, `/stac/collections/${encodeURIComponent(collection)}/items.ndjson?method=upsert`, {
        method: "POST",
        type: "application/x-ndjson",
        body: lines,
      }),
    sendXml: (scope, xml) =>
      call(scope, "/csw", { method: "POST", type: "application/xml", accept: "application/xml", body: xml }),
    close: () => peer.close(),
  };
}

/** What the catalogue says is wrong with a document. */
export function describeRefusal({ status, body }: CatalogueResponse): string {
  const text =
    typeof body === "string" ? body : ((body as { detail?: string; description?: string }).detail ?? body.description);
  return typeof text === "string" && text !== ""
    ? text.slice(0, 2000)
    : `The catalogue answered with status ${status}.`;
}
