import { RequestError, request, requestJson } from "@swath/ui";

import { type StorageKeys, sendToStorage } from "../../clients/javascript/storage-request.js";

/** What the hub says to the owner of this server (`/.swath/environment`). */
interface Environment {
  readonly user: string;
  readonly token: string;
  readonly expires: string;
  readonly services: Readonly<Record<string, string>>;
  readonly s3?: {
    readonly endpoint: string;
    readonly region: string;
    readonly access_key?: string;
    readonly secret_key?: string;
    readonly session_token?: string;
  };
}

const RENEW_BEFORE_MS = 30_000;
let known: Promise<Environment> | undefined;
let knownUntil = 0;

/** Who this works for; asked again before the token ends. The token stays in memory. */
export function readEnvironment(): Promise<Environment> {
  if (known === undefined || Date.now() > knownUntil) {
    knownUntil = Date.now() + RENEW_BEFORE_MS;
    known = requestJson<Environment>("/.swath/environment").then(
      (found) => {
        knownUntil = Date.parse(found.expires) - RENEW_BEFORE_MS;
        return found;
      },
      (error: unknown) => {
        known = undefined;
        throw error;
      },
    );
  }
  return known;
}

/** Hosts besides the platform's that the profile allows. */
export const readHosts = async (): Promise<readonly string[]> =>
  (await requestJson<{ readonly hosts: readonly string[] }>("/site.json")).hosts;

/** The STAC API of the platform, where there is one. */
export async function findCatalogue(): Promise<string | undefined> {
  const { services } = await readEnvironment();
  const base = services["resource-catalogue"];
  return base === undefined ? undefined : `${base}/stac`;
}

interface ReadOptions {
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

/** JSON from an address: of the platform with the user's token, of a bucket with the user's keys, of an allowed host without either. */
export async function readJson<T>(address: string, options: ReadOptions = {}): Promise<T> {
  return (await (await read(address, options)).json()) as T;
}

/** A picture as an address that the page can show; the caller revokes it. */
export async function readPicture(address: string, signal: AbortSignal): Promise<string> {
  const response = await read(address, { signal, accept: "image/*" });
  return URL.createObjectURL(await response.blob());
}

/** Asks for a file and gives it to the browser's downloads. */
export async function download(address: string): Promise<void> {
  const url = URL.createObjectURL(await (await read(address, { accept: "*/*" })).blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = decodeURIComponent(new URL(address).pathname.split("/").at(-1) ?? "file");
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

async function read(address: string, { method = "GET", body, accept, signal }: ReadOptions): Promise<Response> {
  const environment = await readEnvironment();
  const url = new URL(address);
  if (url.protocol === "s3:") {
    return readObject(environment, url);
  }
  const service = Object.entries(environment.services).find(([, base]) => new URL(base).origin === url.origin);
  const options = {
    method,
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
    headers: {
      ...(accept !== undefined && { accept }),
      ...(service !== undefined && { authorization: `Bearer ${environment.token}` }),
    },
  };
  if (service !== undefined) {
    return request(`/.swath/services/${service[0]}${url.pathname}${url.search}`, options);
  }
  const hosts = await readHosts();
  if (!hosts.includes(url.host)) {
    throw new RequestError(403, {
      title: "Not an allowed host",
      detail: `${url.host} is not a host of the platform, and not among those of this profile${
        hosts.length === 0 ? "" : ` (${hosts.join(", ")})`
      }. An operator adds it: embedded.hosts of the profile.`,
    });
  }
  return request(address, options);
}

async function readObject({ s3 }: Environment, { host: bucket, pathname }: URL): Promise<Response> {
  if (s3?.access_key === undefined || s3.secret_key === undefined) {
    throw new RequestError(403, { title: "No keys", detail: "There are no keys of the object storage for you." });
  }
  const keys: StorageKeys = {
    endpoint: s3.endpoint,
    region: s3.region,
    accessKey: s3.access_key,
    secretKey: s3.secret_key,
    ...(s3.session_token !== undefined && { sessionToken: s3.session_token }),
    via: "/.swath/services/objstore",
  };
  const response = await sendToStorage(keys, { method: "GET", bucket, key: decodeURIComponent(pathname.slice(1)) });
  if (!response.ok) {
    const [, message = response.statusText] = /<Message>([^<]*)<\/Message>/.exec(await response.text()) ?? [];
    throw new RequestError(response.status, { title: "The object storage refused", detail: message });
  }
  return response;
}
