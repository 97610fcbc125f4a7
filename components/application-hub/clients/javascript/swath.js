// @ts-check
/**
 * The platform's services for programs in JavaScript: search, read rasters as arrays, run processes. Needs nothing but `fetch`: Node.js 24
 * and every browser. Inside a server of the application hub, and in pages of its own sites in the browser, it knows where the platform is
 * and gets tokens by itself, again before they end. Elsewhere: `await login("https://eo.example.org")`, in Node.js, which logs you in with a
 * browser anywhere and remembers it, as the command swath login does; or `connect({ services: { … }, token: "…", user: "…" })`.
 *
 *     import * as swath from "/run/swath/javascript/swath.js"; // in a server of the hub; elsewhere from "swath-client"
 *     const [item] = await swath.search({ collections: ["sentinel-2"], limit: 1 });
 *     const red = await swath.open(item, "red", { maxSize: 256 });
 *     const job = await swath.run("ndvi", { scene: item });
 *     console.log((await job.wait()).status, await job.results());
 */

import { reach } from "./reach.js";
import { sendToStorage } from "./storage-request.js";

/** @typedef {{ user?: string, token?: string, expires?: string, services: Record<string, string> }} Environment */
/** @typedef {import("./storage-request.js").StorageKeys} StorageKeys */
/** @typedef {{ id: string, collection?: string, links?: { rel: string, href: string }[], assets: Record<string, { href: string }> }} Item */
/** @typedef {Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array} Band */

const IN_BROWSER = "document" in globalThis || "importScripts" in globalThis;
const RENEW_BEFORE_MS = 60_000;
/** Seconds that one look at a job waits for its end. */
const WAIT_SECONDS = 20;

/** @type {{ services: Record<string, string>, token?: string | (() => string | Promise<string>), user?: string } | undefined} */
let given;
/** @type {Environment | undefined} */
let known;
let knownUntil = 0;

/** A service refused; `status` and `detail` say why. */
export class SwathError extends Error {
  /** @param {number | string} status @param {string} detail @param {string} url */
  constructor(status, detail, url) {
    super(`${status}: ${detail} (${url})`);
    this.name = "SwathError";
    this.status = status;
    this.detail = detail;
  }
}

/**
 * Uses these services instead of those of the environment.
 * @param {{ services: Record<string, string>, token?: string | (() => string | Promise<string>), user?: string }} options
 */
export function connect(options) {
  given = options;
}

/** Who and where one is; asked again before the token ends. @returns {Promise<Environment>} */
export async function environment() {
  if (given !== undefined) {
    const { token, ...rest } = given;
    const now = typeof token === "function" ? await token() : token;
    return now === undefined ? rest : { ...rest, token: now };
  }
  if (known !== undefined && Date.now() < knownUntil) {
    return known;
  }
  const variables = /** @type {Record<string, string | undefined>} */ (
    /** @type {any} */ (globalThis).process?.env ?? {}
  );
  const hub = variables["JUPYTERHUB_API_URL"];
  if (!IN_BROWSER && hub === undefined) {
    throw new Error(
      "this is no server of the application hub; call login('https://eo.example.org') or connect({ services, token, user }) first",
    );
  }
  const answer = IN_BROWSER
    ? await fetch("/.swath/environment")
    : await fetch(`${hub}/swath/environment`, {
        headers: { authorization: `token ${variables["JUPYTERHUB_API_TOKEN"]}` },
      });
  if (!answer.ok) {
    throw new SwathError(answer.status, readDetail(await answer.text()), "the hub");
  }
  const found = /** @type {Environment} */ (await answer.json());
  known = found;
  knownUntil = Date.parse(found.expires ?? "") - RENEW_BEFORE_MS;
  return found;
}

/**
 * STAC items. `datetime` like "2020-01-01/2020-12-31", `filter` CQL2 text.
 * @param {{ collections?: string[], bbox?: number[], datetime?: string, query?: object, filter?: string, ids?: string[], limit?: number }} [options]
 * @returns {Promise<any[]>}
 */
export async function search({ filter, limit = 10, ...rest } = {}) {
  const body = { limit, ...rest, ...(filter !== undefined && { filter, "filter-lang": "cql2-text" }) };
  const answer = await call("resource-catalogue", "/stac/search", { method: "POST", body: JSON.stringify(body) });
  return (await readJson(answer)).features;
}

/** Values of a raster, band by band: each band has width × height values, row by row from the top. */
export class Raster {
  /** @param {readonly Band[]} bands @param {number} width @param {number} height */
  constructor(bands, width, height) {
    this.bands = bands;
    this.width = width;
    this.height = height;
  }

  /** Bands, rows, columns. */
  get shape() {
    return [this.bands.length, this.height, this.width];
  }
}

/**
 * A raster as values, by data access: an item of `search` and the name of its asset, or an address (https://).
 * @param {Item | string} item
 * @param {string} [asset]
 * @param {{ bbox?: number[], maxSize?: number }} [options] `bbox` in degrees; `maxSize` pixels of the longer side
 */
export async function open(item, asset = "", { bbox, maxSize = 1024 } = {}) {
  const url = typeof item === "string" ? item : item.assets[asset]?.href;
  if (url === undefined) {
    throw new Error(
      `the item has no asset ${asset}; there are: ${Object.keys(/** @type {Item} */ (item).assets).join(", ")}`,
    );
  }
  // Of an item, data access finds the file with the rights of who asks; an address alone has to be open to it.
  const own = typeof item === "string" ? undefined : await addressOf(item);
  const base = own === undefined ? "/cog" : "/stac";
  const path = bbox === undefined ? `${base}/preview.npy` : `${base}/bbox/${bbox.join(",")}.npy`;
  const query = new URLSearchParams({
    url: own ?? url,
    max_size: String(maxSize),
    ...(own !== undefined && { assets: asset }),
  });
  const answer = await call("data-access", `${path}?${query}`, { headers: { accept: "*/*" } });
  return readNpy(await answer.arrayBuffer());
}

/** (nir - red) / (nir + red) as a raster of one band; 0 where both are 0. @param {Raster} red @param {Raster} nearInfrared */
export function ndvi(red, nearInfrared) {
  const [r, n] = [red.bands[0] ?? [], nearInfrared.bands[0] ?? []];
  const values = new Float32Array(r.length);
  for (let at = 0; at < values.length; at += 1) {
    const [low, high] = [r[at] ?? 0, n[at] ?? 0];
    values[at] = low + high === 0 ? 0 : (high - low) / (high + low);
  }
  return new Raster([values], red.width, red.height);
}

/** Ids and titles of the processes that one may run. @returns {Promise<{ id: string, title?: string }[]>} */
export async function processes() {
  const answer = await call("ades", `${await space()}/processes?limit=1000`);
  const { processes: found } = await readJson(answer);
  return found.map((/** @type {{ id: string, title?: string }} */ { id, title }) => ({ id, title }));
}

/**
 * Starts a process; the job goes on by itself. Values, and { href } for files.
 * @param {string} process @param {Record<string, unknown>} [inputs]
 */
export async function run(process, inputs = {}) {
  const answer = await call("ades", `${await space()}/processes/${encodeURIComponent(process)}/execution`, {
    method: "POST",
    headers: { prefer: "respond-async" },
    body: JSON.stringify({ inputs, response: "document" }),
  });
  return new Job((await readJson(answer)).jobID);
}

/** A job of the processing service. */
export class Job {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    /** @type {{ status?: string, message?: string, progress?: number }} */
    this.info = {};
  }

  get status() {
    return this.info.status;
  }

  /** Asks for its state; waits that many seconds for its end. @param {number} [seconds] */
  async refresh(seconds = 0) {
    /** @type {Record<string, string>} */
    const headers = seconds > 0 ? { prefer: `wait=${seconds}` } : {};
    this.info = await readJson(await call("ades", `${await space()}/jobs/${this.id}`, { headers }));
    return this;
  }

  /** Until it has ended. @param {number} [timeoutMs] @throws {SwathError} where it failed */
  async wait(timeoutMs = 3_600_000) {
    const deadline = Date.now() + timeoutMs;
    while (["accepted", "running"].includes((await this.refresh(WAIT_SECONDS)).status ?? "")) {
      if (Date.now() > deadline) {
        throw new Error(`job ${this.id} is ${this.status} after ${timeoutMs / 1000} seconds`);
      }
      // Where the service answers at once, it is not asked without a pause.
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    if (this.status !== "successful") {
      throw new SwathError(this.status ?? "", this.info.message ?? "", this.id);
    }
    return this;
  }

  /** Its outputs by their names. @returns {Promise<Record<string, any>>} */
  async results() {
    return readJson(await call("ades", `${await space()}/jobs/${this.id}/results`));
  }
}

/** Where the catalogue has an item; undefined for one that is not of this catalogue. @param {Item} item */
async function addressOf({ id, collection, links = [] }) {
  const catalogue = (await environment()).services["resource-catalogue"];
  const self = links.find(({ rel }) => rel === "self")?.href;
  return catalogue === undefined
    ? undefined
    : (self ?? (collection && `${catalogue}/stac/collections/${collection}/items/${id}`));
}

async function space() {
  return `/${encodeURIComponent((await environment()).user ?? "")}/ogc-api`;
}

/** @param {string} service @param {string} path @param {{ method?: string, body?: string, headers?: Record<string, string> }} [options] */
async function call(service, path, { method = "GET", body, headers = {} } = {}) {
  const { services, token } = await environment();
  const address = services[service];
  if (address === undefined) {
    throw new Error(
      `this deployment has no service ${service}; there are: ${Object.keys(services).toSorted().join(", ") || "none"}`,
    );
  }
  // In the browser, services are reached by the page's own origin.
  const url = IN_BROWSER && given === undefined ? `/.swath/services/${service}${path}` : `${address}${path}`;
  const answer = await reach(url, {
    method,
    headers: {
      accept: "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  if (!answer.ok) {
    throw new SwathError(answer.status, readDetail(await answer.text()), url);
  }
  return answer;
}

/** @param {Response} answer @returns {Promise<any>} */
const readJson = (answer) => answer.json();

/** @param {string} text */
function readDetail(text) {
  try {
    const found = JSON.parse(text);
    return String(found.detail ?? found.message ?? found.description ?? found.title ?? text.slice(0, 300));
  } catch {
    return text.slice(0, 300).trim();
  }
}

const ARRAYS = {
  u1: Uint8Array,
  i1: Int8Array,
  u2: Uint16Array,
  i2: Int16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
};

/** NumPy's file format (NEP 1). A last band that is a mask is left out. @param {ArrayBuffer} content */
function readNpy(content) {
  const bytes = new Uint8Array(content);
  if (bytes[0] !== 0x93 || String.fromCharCode(...bytes.subarray(1, 6)) !== "NUMPY") {
    throw new Error("data access did not send an array");
  }
  const view = new DataView(content);
  const isWide = view.getUint8(6) >= 2;
  const start = (isWide ? 12 : 10) + (isWide ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder("latin1").decode(bytes.subarray(isWide ? 12 : 10, start));
  const [, order = "", kind = ""] = /'descr': '([<>|=]?)(\w\d)'/.exec(header) ?? [];
  const [, sizes = ""] = /'shape': \(([\d, ]+)\)/.exec(header) ?? [];
  const type = ARRAYS[/** @type {keyof typeof ARRAYS} */ (kind)];
  if (type === undefined || order === ">" || /'fortran_order': True/.test(header)) {
    throw new Error(`arrays of ${order}${kind} are not read`);
  }
  const shape = sizes
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
    .map(Number);
  const [count = 1, height = 0, width = 0] = shape.length === 3 ? shape : [1, ...shape];
  const values = new type(content.slice(start));
  const bands = Array.from({ length: count }, (_, band) =>
    values.slice(band * width * height, (band + 1) * width * height),
  );
  return new Raster(count === 2 || count === 4 ? bands.slice(0, -1) : bands, width, height);
}

/** Files of a workspace, by S3 with its keys. */
export class Files {
  #bucket;
  #readKeys;

  /** @param {{ bucket?: string, keys?: StorageKeys }} [options] the bucket and keys of the user's own workspace where left out */
  constructor({ bucket, keys } = {}) {
    this.#bucket = bucket;
    /** @type {() => Promise<StorageKeys>} */
    this.#readKeys = keys === undefined ? readKeys : async () => keys;
  }

  /** Names of the files that begin so. @param {string} [prefix] @returns {Promise<string[]>} */
  async list(prefix = "") {
    const names = [];
    for (let token = ""; ;) {
      const query = {
        "list-type": "2",
        prefix,
        "encoding-type": "url",
        ...(token !== "" && { "continuation-token": token }),
      };
      const text = await (await this.#request("GET", "", { query })).text();
      for (const [, key = ""] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) {
        names.push(decodeURIComponent(key.replaceAll("+", " ")));
      }
      token = unescapeXml(/<NextContinuationToken>([^<]*)</.exec(text)?.[1] ?? "");
      if (token === "") {
        return names;
      }
    }
  }

  /** @param {string} key @returns {Promise<Uint8Array>} */
  async read(key) {
    return new Uint8Array(await (await this.#request("GET", key)).arrayBuffer());
  }

  /** @param {string} key @param {string | Uint8Array} content @returns {Promise<void>} */
  async write(key, content) {
    await this.#request("PUT", key, {
      body: typeof content === "string" ? new TextEncoder().encode(content) : content,
    });
  }

  /** @param {string} key @returns {Promise<void>} */
  async delete(key) {
    await this.#request("DELETE", key);
  }

  /** @param {string} method @param {string} key @param {{ query?: Record<string, string>, body?: Uint8Array }} [options] */
  async #request(method, key, options = {}) {
    const bucket = this.#bucket ?? `ws-${(await environment()).user}`;
    const answer = await sendToStorage(await this.#readKeys(), { method, bucket, key, ...options });
    if (!answer.ok) {
      throw new SwathError(answer.status, readDetail(await answer.text()), `s3://${bucket}/${key}`);
    }
    return answer;
  }
}

/** The keys of the user's own workspace. @returns {Promise<StorageKeys>} */
async function readKeys() {
  const { user = "" } = await environment();
  const workspace = await readJson(await call("workspace-api", `/workspaces/ws-${encodeURIComponent(user)}`));
  const { endpoint, region, access, secret } = workspace.storage.credentials;
  return { endpoint, region, accessKey: access, secretKey: secret };
}

/** @param {string} text */
const unescapeXml = (text) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/**
 * Logs in to a platform (`https://eo.example.org`) and uses it from now on: with what an earlier login or the command swath login keeps, else
 * with a browser anywhere. In Node.js alone.
 * @param {string} [platform] the newest login where left out
 * @param {{ issuer?: string, say?: (text: string) => void }} [options] `say` gets the address to open
 * @returns {Promise<string>} the user's name
 */
export async function login(platform, options = {}) {
  const { logIn } = await import("./login.js");
  const { user, services, token } = await logIn(platform, options);
  connect({ user, services, token });
  return user;
}
