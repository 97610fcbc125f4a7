import { createHash } from "node:crypto";

import { ADMIN_PASSWORD } from "./start-registry.ts";

export interface ClientResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses are looked into freely
  readonly json: () => any;
  /** Code of the first error. */
  readonly code: () => string;
}

interface CallOptions {
  readonly body?: Buffer | string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RegistryClient {
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<ClientResponse>;
  /** Uploads a blob whole and gives its digest. */
  readonly pushBlob: (repository: string, content: Buffer) => Promise<string>;
  /** Pushes an image of these layers and gives the manifest's digest. */
  readonly pushImage: (repository: string, reference: string, layers?: readonly Buffer[]) => Promise<string>;
  readonly putManifest: (
    repository: string,
    reference: string,
    manifest: object,
    type?: string,
  ) => Promise<ClientResponse>;
}

export const IMAGE = "application/vnd.oci.image.manifest.v1+json";
export const INDEX = "application/vnd.oci.image.index.v1+json";
export const digestOf = (content: Buffer | string): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
export const ADMIN = basic("admin", ADMIN_PASSWORD);

/** A client of a registry that sends the same `Authorization` always, or none. */
export function createClient(url: string, authorization: string | undefined = ADMIN): RegistryClient {
  const call: RegistryClient["call"] = async (method, path, { body, headers = {} } = {}) => {
    const isJson = body !== undefined && typeof body === "object" && !Buffer.isBuffer(body);
    const response = await fetch(path.startsWith("http") ? path : `${url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(isJson && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as string) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const json = () => JSON.parse(bytes.toString("utf8"));
    return { status: response.status, headers: response.headers, body: bytes, json, code: () => json().errors[0].code };
  };
  const pushBlob: RegistryClient["pushBlob"] = async (repository, content) => {
    const digest = digestOf(content);
    const { status, body } = await call("POST", `/v2/${repository}/blobs/uploads/?digest=${digest}`, { body: content });
    if (status !== 201) {
      throw new Error(`the blob was refused with ${status}: ${body.toString()}`);
    }
    return digest;
  };
  const putManifest: RegistryClient["putManifest"] = (repository, reference, manifest, type = IMAGE) =>
    call("PUT", `/v2/${repository}/manifests/${reference}`, {
      body: Buffer.from(JSON.stringify(manifest)),
      headers: { "content-type": type },
    });
  return {
    call,
    pushBlob,
    putManifest,
    pushImage: async (repository, reference, layers = [Buffer.from("layer")]) => {
      const config = Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux", reference }));
      for (const blob of [config, ...layers]) {
        await pushBlob(repository, blob);
      }
      const { status, headers, body } = await putManifest(repository, reference, imageOf(config, layers));
      if (status !== 201) {
        throw new Error(`the manifest was refused with ${status}: ${body.toString()}`);
      }
      return headers.get("docker-content-digest") ?? "";
    },
  };
}

/** An image manifest of a config and layers. */
export function imageOf(config: Buffer, layers: readonly Buffer[], more: object = {}): object {
  const describe = (mediaType: string, content: Buffer) => ({
    mediaType,
    digest: digestOf(content),
    size: content.length,
  });
  return {
    schemaVersion: 2,
    mediaType: IMAGE,
    config: describe("application/vnd.oci.image.config.v1+json", config),
    layers: layers.map((layer) => describe("application/vnd.oci.image.layer.v1.tar", layer)),
    ...more,
  };
}

export async function createProject(client: RegistryClient, name: string, more: object = {}): Promise<number> {
  const { status, headers, body } = await client.call("POST", "/api/v2.0/projects", {
    body: { project_name: name, ...more },
  });
  if (status !== 201) {
    throw new Error(`the project was refused with ${status}: ${body.toString()}`);
  }
  return Number(headers.get("location")?.split("/").at(-1));
}

/** Bytes that a project uses, by its quota. */
export async function usedBytes(client: RegistryClient, project: string): Promise<number> {
  return (await client.call("GET", `/api/v2.0/projects/${project}/summary`)).json().quota.used.storage;
}

/** What Docker and others do with a 401: ask for a token for `scopes`. */
export async function fetchToken(
  url: string,
  scopes: readonly string[],
  authorization?: string,
): Promise<{ readonly status: number; readonly token: string }> {
  const query = scopes.map((scope) => `scope=${encodeURIComponent(scope)}`).join("&");
  const response = await fetch(`${url}/service/token?service=registry&${query}`, {
    headers: { ...(authorization !== undefined && { authorization }) },
  });
  const { token = "" } = (await response.json()) as { token?: string };
  return { status: response.status, token };
}
