import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { openPool } from "@swath/postgres/pool";
import { startTestServer } from "@swath/postgres/server";
import { createLogger, loadSettings } from "@swath/service";
import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";
import { type S3Signer, createS3Signer } from "@swath/s3";
import { SignJWT, exportJWK, generateKeyPair } from "jose";

import { buildDataAccess } from "../build.ts";
import { settings } from "../config.ts";

const SCENES = join(import.meta.dirname, "../../../examples/scenes");
const DOMAIN = "swath.localhost";

interface SendOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** `ws-eric`: the host of that workspace. */
  readonly workspace?: string;
}

export interface Platform {
  /** Asks the catalogue in the name of a user, or of nobody. */
  readonly catalogue: (user: string | undefined, path: string, options?: SendOptions) => Promise<TestResponse>;
  readonly dataAccess: (user: string | undefined, path: string, options?: SendOptions) => Promise<TestResponse>;
  /** Signed by the root user. */
  readonly signer: S3Signer;
  /** Sends a signed request to the object storage. */
  readonly sendSigned: (method: string, path: string, body?: Buffer | string) => Promise<Response>;
  readonly putObject: (bucket: string, key: string, bytes: Uint8Array) => Promise<void>;
  readonly s3Url: string;
  readonly dataAccessUrl: string;
  readonly tokenOf: (user: string) => Promise<string>;
  readonly catalogueUrl: string;
  /** Ends the catalogue's process at once, and waits for its end. */
  readonly killCatalogue: () => Promise<void>;
  /** Starts the catalogue's process again, and waits until it answers. */
  readonly startCatalogue: () => Promise<void>;
  /** Another process of the catalogue over the same database, for as long as the work takes. */
  readonly withOtherCatalogue: (work: (send: Platform["catalogue"]) => Promise<void>) => Promise<void>;
  /** A transaction that has written, open in the database for as long as the work takes. */
  readonly withOpenTransaction: (work: () => Promise<void>) => Promise<void>;
}

export const FEED_KEY = "key of the services";

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses are looked into freely
  readonly json: any;
}

/** The catalogue, the workspace API and the object storage as they are deployed, data access over them, and an issuer of tokens. */
export async function startPlatform(t: TestContext): Promise<Platform> {
  const folder = mkdtempSync(join(tmpdir(), "da-"));
  const children: ChildProcess[] = [];
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
  let issuer = "";
  const identity = createServer((request, response) => {
    const body = request.url?.endsWith("/certs") === true ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/certs` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => identity.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(identity.address() as AddressInfo).port}/realms/master`;
  const postgres = await startTestServer();
  const [workspacePort = 0, internalPort = 0, s3Port = 0, cataloguePort = 0, consolePort = 0] = await findFreePorts(5);
  const s3Url = `http://127.0.0.1:${s3Port}`;
  const startService = (name: string, env: Readonly<Record<string, string>>): ChildProcess => {
    const child = spawn(process.execPath, [programFile(`${name}/main.ts`)], {
      env: { ...compiledCode, LOG_LEVEL: "error", ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    children.push(child);
    return child;
  };
  startService("workspace-api", {
    DATABASE_URL: postgres.url,
    PUBLIC_URL: `http://127.0.0.1:${workspacePort}`,
    IDENTITY_ISSUER: issuer,
    INTERNAL_SECRET: "secret",
    LISTEN: `127.0.0.1:${workspacePort}`,
    LISTEN_INTERNAL: `127.0.0.1:${internalPort}`,
  });
  startService("objstore", {
    DATA_DIR: join(folder, "objects"),
    PUBLIC_URL: s3Url,
    OBJSTORE_ROOT_USER: "root",
    OBJSTORE_ROOT_PASSWORD: "root-password",
    OBJSTORE_RESERVED_MIB: "1",
    IDENTITY_ISSUER: issuer,
    LISTEN: `127.0.0.1:${s3Port}`,
    LISTEN_CONSOLE: `127.0.0.1:${consolePort}`,
    MANAGEMENT_LISTEN: "127.0.0.1:0",
  });
  const spawnCatalogue = (port: number) =>
    startService("resource-catalogue", {
      DATABASE_URL: postgres.url,
      PUBLIC_URL: `http://resource-catalogue.${DOMAIN}`,
      PLATFORM_DOMAIN: DOMAIN,
      IDENTITY_ISSUER: issuer,
      WORKSPACE_URL: `http://127.0.0.1:${internalPort}`,
      WORKSPACE_SECRET: "secret",
      S3_PUBLIC_URL: s3Url,
      S3_ACCESS_KEY: "root",
      S3_SECRET_KEY: "root-password",
      FEED_KEY,
      LISTEN: `127.0.0.1:${port}`,
    });
  let catalogueProcess = spawnCatalogue(cataloguePort);
  const catalogueUrl = `http://127.0.0.1:${cataloguePort}`;
  const built = await buildDataAccess(
    loadSettings(settings, {
      CATALOGUE_URL: catalogueUrl,
      CATALOGUE_FEED_KEY: FEED_KEY,
      CATALOGUE_PUBLIC_URL: `http://resource-catalogue.${DOMAIN}`,
      OBJSTORE_URL: s3Url,
      OBJSTORE_PUBLIC_URL: s3Url,
      OBJSTORE_ROOT_USER: "root",
      OBJSTORE_ROOT_PASSWORD: "root-password",
      TILE_CACHE_BUCKET: "data-access-tiles",
      THREADS: "2",
      CACHE_BYTES: "33554432",
    }),
    createLogger("data-access", "error"),
  );
  t.after(async () => {
    await built.app.close();
    await built.close();
    children.forEach((child) => child.kill("SIGKILL"));
    identity.closeAllConnections();
    identity.close();
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const tokenOf = (user: string): Promise<string> =>
    new SignJWT({ preferred_username: user, ...(user === "admin" && { realm_access: { roles: ["admin"] } }) })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setIssuer(issuer)
      .setSubject(`id-of-${user}`)
      .setAudience("swath-platform")
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(privateKey);
  for (const [name, port] of [
    ["the workspace API", workspacePort],
    ["the object storage", s3Port],
    ["the catalogue", cataloguePort],
  ] as const) {
    await waitUntil(name, async () => isUp(`http://127.0.0.1:${port}`));
  }
  const signer = createS3Signer({ accessKeyId: "root", secretAccessKey: "root-password", region: "us-east-1" });
  const sendSigned = async (method: string, path: string, body?: Buffer | string) => {
    const url = `${s3Url}${path}`;
    const headers = await signer.sign({ method, url });
    return fetch(url, { method, headers, ...(body !== undefined && { body: body as string }) });
  };
  for (const user of ["eric", "bob"]) {
    const made = await fetch(`http://127.0.0.1:${workspacePort}/workspaces`, {
      method: "POST",
      headers: { authorization: `Bearer ${await tokenOf("admin")}`, "content-type": "application/json" },
      body: JSON.stringify({ preferred_name: user, default_owner: user }),
    });
    assert.equal(made.status, 201, await made.text());
    const bucket = await sendSigned("PUT", `/ws-${user}`);
    assert.equal(bucket.status, 200, await bucket.text());
    // As the reconciler of workspaces makes it.
    const role = await fetch(`http://127.0.0.1:${consolePort}/api/roles/ws-${user}`, {
      method: "PUT",
      headers: {
        authorization: `Basic ${Buffer.from("root:root-password").toString("base64")}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({
        policy: {
          Version: "2012-10-17",
          Statement: [
            { Effect: "Allow", Action: ["s3:*"], Resource: [`arn:aws:s3:::ws-${user}`, `arn:aws:s3:::ws-${user}/*`] },
          ],
        },
        claim: "preferred_username",
        value: user,
      }),
    });
    assert.equal(role.status, 204, await role.text());
  }
  const dataAccessUrl = await built.app.listen({ port: 0, host: "127.0.0.1" });
  const send = async (
    base: string,
    service: string,
    user: string | undefined,
    path: string,
    { method = "GET", body, headers = {}, workspace }: SendOptions = {},
  ): Promise<TestResponse> => {
    const { promise, resolve, reject } = Promise.withResolvers<TestResponse>();
    const { request } = await import("node:http");
    const outgoing = request(
      `${base}${path}`,
      {
        method,
        headers: {
          host: `${service}.${workspace === undefined ? "" : `${workspace}.`}${DOMAIN}`,
          ...(user !== undefined && { authorization: `Bearer ${await tokenOf(user)}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => {
          const bytes = Buffer.concat(parts);
          const isJson = /json/.test(response.headers["content-type"] ?? "") && bytes.length > 0;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            bytes,
            json: isJson ? (JSON.parse(bytes.toString()) as unknown) : undefined,
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
    return promise;
  };
  return {
    signer,
    sendSigned,
    s3Url,
    dataAccessUrl,
    tokenOf,
    catalogue: (user, path, options) => send(catalogueUrl, "resource-catalogue", user, path, options),
    catalogueUrl,
    killCatalogue: async () => {
      const ended = once(catalogueProcess, "exit");
      catalogueProcess.kill("SIGKILL");
      await ended;
    },
    startCatalogue: async () => {
      catalogueProcess = spawnCatalogue(cataloguePort);
      await waitUntil("the catalogue", async () => isUp(catalogueUrl));
    },
    withOtherCatalogue: async (work) => {
      const [port = 0] = await findFreePorts(1);
      const other = spawnCatalogue(port);
      const url = `http://127.0.0.1:${port}`;
      await waitUntil("the other catalogue", async () => isUp(url));
      await work((user, path, options) => send(url, "resource-catalogue", user, path, options));
      const ended = once(other, "exit");
      other.kill("SIGTERM");
      await ended;
    },
    withOpenTransaction: async (work) => {
      const database = await openPool({
        url: postgres.url,
        schema: "public",
        connections: 1,
        onError: () => undefined,
      });
      const client = await database.pool.connect();
      try {
        await client.query("begin");
        await client.query("select pg_current_xact_id()");
        await work();
        await client.query("rollback");
      } finally {
        client.release();
        await database.close();
      }
    },
    dataAccess: (user, path, options) => send(dataAccessUrl, "data-access", user, path, options),
    putObject: async (bucket, key, bytes) => {
      const put = await sendSigned("PUT", `/${bucket}/${key}`, Buffer.from(bytes));
      assert.equal(put.status, 200, await put.text());
    },
  };
}

const isUp = async (url: string): Promise<boolean> =>
  fetch(`${url}/`).then(
    ({ status }) => status < 500,
    () => false,
  );

/** The example scene near Maribor as an item of a collection, with its files in a bucket. */
export function scene(id: string, hrefOf: (file: string) => string): Record<string, unknown> {
  const item = JSON.parse(readFileSync(join(SCENES, "maribor-0820/item.json"), "utf8")) as {
    assets: Record<string, { href: string }>;
  } & Record<string, unknown>;
  return {
    ...item,
    id,
    links: [],
    assets: Object.fromEntries(
      Object.entries(item.assets).map(([key, asset]) => [key, { ...asset, href: hrefOf(asset.href) }]),
    ),
  };
}

export const readSceneFile = (name: string): Buffer => readFileSync(join(SCENES, "maribor-0820", name));

export const collection = (id: string): Record<string, unknown> => ({
  type: "Collection",
  stac_version: "1.1.0",
  id,
  description: `Scenes of ${id}`,
  license: "other",
  extent: { spatial: { bbox: [[15, 46, 16, 47]] }, temporal: { interval: [["2023-01-01T00:00:00Z", null]] } },
  links: [],
});
