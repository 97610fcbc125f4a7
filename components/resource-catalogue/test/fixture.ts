import { startTestServer, type TestServer } from "@swath/postgres/server";
import { createLogger, loadSettings } from "@swath/service";
import type { FastifyInstance } from "fastify";

import { type BuiltCatalogue, buildCatalogue } from "../build.ts";
import { settings } from "../config.ts";

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses are looked into freely
  readonly body: any;
}

export interface CatalogueFixture {
  readonly postgres: TestServer;
  readonly url: string;
  readonly app: FastifyInstance;
  /** With `INTERNAL_SECRET` among the settings. */
  readonly createInternalServer: BuiltCatalogue["createInternalServer"];
  readonly request: (method: string, path: string, options?: RequestOptions) => Promise<TestResponse>;
  readonly close: () => Promise<void>;
}

interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A catalogue on a PostgreSQL of its own, listening on a port that it was given by chance; everybody is an operator unless told otherwise. */
export async function startCatalogue({
  LOG_LEVEL: logLevel = "error",
  ...environment
}: Readonly<Record<string, string>> = {}): Promise<CatalogueFixture> {
  const postgres = await startTestServer();
  const built: BuiltCatalogue = await buildCatalogue(
    loadSettings(settings, {
      DATABASE_URL: postgres.url,
      PUBLIC_URL: "http://resource-catalogue.localhost",
      AUTHENTICATION: "optional",
      ...environment,
    }),
    createLogger("resource-catalogue", logLevel),
  ).catch(async (error: unknown) => {
    await postgres.close();
    throw error;
  });
  const url = await built.app.listen({ host: "127.0.0.1", port: 0 });
  return {
    postgres,
    url,
    app: built.app,
    createInternalServer: built.createInternalServer,
    request: (method, path, options) => send(`${url}${path}`, method, options),
    close: async () => {
      await built.close();
      await postgres.close();
    },
  };
}

async function send(url: string, method: string, { body, headers = {} }: RequestOptions = {}): Promise<TestResponse> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    redirect: "manual",
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: /json/.test(response.headers.get("content-type") ?? "") && text !== "" ? JSON.parse(text) : undefined,
  };
}

/** A valid item of a square degree. */
export function makeItem(id: string, overrides: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const [west, south] = [10, 45];
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [west, south],
          [west + 1, south],
          [west + 1, south + 1],
          [west, south + 1],
          [west, south],
        ],
      ],
    },
    bbox: [west, south, west + 1, south + 1],
    properties: { datetime: "2024-06-01T10:00:00Z", "eo:cloud_cover": 10, platform: "sentinel-2a" },
    links: [],
    assets: { data: { href: "s3://bucket/data.tif" } },
    ...overrides,
  };
}

export function makeCollection(id: string, overrides: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    type: "Collection",
    stac_version: "1.1.0",
    id,
    description: `Scenes of ${id}`,
    license: "other",
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [["2015-01-01T00:00:00Z", null]] } },
    links: [],
    ...overrides,
  };
}
