import { isIP } from "node:net";

import { isProxyAddress } from "./trusted-proxies.ts";

/** One address that the ingress accepts connections on. */
export interface Listener {
  /** An IP address, e.g. `127.0.0.1`, `::1`, `0.0.0.0`. */
  readonly address: string;
  /** 0 asks for a free port. */
  readonly port: number;
  readonly tls: boolean;
  /** The port that users see, where it is mapped to another one before it arrives here; `port` when left out. */
  readonly publicPort?: number;
}

/** Where a pod listens. */
export type Upstream = { readonly socketPath: string } | { readonly host: string; readonly port: number };

/** A public host name and the pod that answers it. */
export interface Route {
  /** Lower case, without port and without trailing dot: `ades.swath.localhost`. */
  readonly host: string;
  /** Also answers every name below `host`. */
  readonly wildcard?: boolean;
  /** Also answers `<first label>.<workspace>.<rest>`. */
  readonly perWorkspace?: boolean;
  readonly service: string;
  readonly namespace: string;
  /** `null` while there is no pod. */
  readonly upstream: Upstream | null;
  readonly ready: boolean;
  /** Why the pod is not ready, shown to users. */
  readonly reason?: string;
  /** The pod is being started or replaced: requests are held for a moment instead of refused at once. */
  readonly deploying?: boolean;
}

/** A certificate chain and its key, as PEM files. */
export interface Certificate {
  /** Names that it is served for: exact ones and `*.example.org`. The first certificate is also the default. */
  readonly hosts: readonly string[];
  readonly certFile: string;
  readonly keyFile: string;
}

/** What the ingress does, whole. Kept in the file that INGRESS_CONFIG names, replaced atomically (write beside it, rename). */
export interface IngressConfig {
  readonly listeners: readonly Listener[];
  /** Sends requests without TLS to https (308). */
  readonly sslRedirect: boolean;
  readonly routes: readonly Route[];
  readonly tls: {
    readonly certificates: readonly Certificate[];
    /** The local CA that signs for hosts of workspaces when they are asked for. */
    readonly workspaces?: { readonly caFolder: string; readonly domain: string };
  };
  /** Folder of ACME HTTP-01 answers: a file `<token>` holds its key authorization (RFC 8555 §8.3). */
  readonly challengeFolder?: string;
  /** Addresses and networks of reverse proxies in front, whose X-Forwarded-For and -Proto are believed. */
  readonly trustedProxies?: readonly string[];
  /** Whether HTTP/2 is offered over TLS, by listeners that open from now on. */
  readonly http2?: boolean;
}

/** Every mistake of a configuration at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`the ingress's configuration is not usable: ${mistakes.join("; ")}`);
    this.mistakes = mistakes;
  }
}

const HOST = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a configuration and checks all of it.
 * @throws {ConfigError} naming each wrong place
 */
export function parseConfig(text: string): IngressConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigError([`it is not JSON (${(error as Error).message})`]);
  }
  if (!isFields(value)) {
    throw new ConfigError(["it is not a JSON object"]);
  }
  const mistakes: string[] = [];
  const check = (right: boolean, place: string, allowed: string) => {
    if (!right) {
      mistakes.push(`${place} must be ${allowed}`);
    }
  };
  eachOf(value["listeners"], "listeners", check, (listener, place) => {
    check(
      typeof listener["address"] === "string" && isIP(listener["address"]) > 0,
      `${place}.address`,
      "an IP address",
    );
    check(isPort(listener["port"], 0), `${place}.port`, "a port number");
    check(typeof listener["tls"] === "boolean", `${place}.tls`, "true or false");
    check(listener["publicPort"] === undefined || isPort(listener["publicPort"], 1), `${place}.publicPort`, "a port");
  });
  check(typeof value["sslRedirect"] === "boolean", "sslRedirect", "true or false");
  eachOf(value["routes"], "routes", check, (route, place) => checkRoute(route, place, check));
  const tls = value["tls"];
  check(isFields(tls), "tls", "an object");
  eachOf(isFields(tls) ? tls["certificates"] : [], "tls.certificates", check, (certificate, place) => {
    const { hosts } = certificate;
    check(
      Array.isArray(hosts) && hosts.every((host) => typeof host === "string" && HOST.test(host.replace(/^\*\./, ""))),
      `${place}.hosts`,
      "a list of host names",
    );
    check(isText(certificate["certFile"]), `${place}.certFile`, "a path");
    check(isText(certificate["keyFile"]), `${place}.keyFile`, "a path");
  });
  check(
    value["challengeFolder"] === undefined || isText(value["challengeFolder"]),
    "challengeFolder",
    "a path or left out",
  );
  const proxies = value["trustedProxies"];
  check(
    proxies === undefined ||
      (Array.isArray(proxies) && proxies.every((item) => typeof item === "string" && isProxyAddress(item))),
    "trustedProxies",
    "a list of addresses and networks",
  );
  check(value["http2"] === undefined || typeof value["http2"] === "boolean", "http2", "true or false");
  if (mistakes.length === 0) {
    checkTogether(value as unknown as IngressConfig, mistakes);
  }
  if (mistakes.length > 0) {
    throw new ConfigError(mistakes);
  }
  return value as unknown as IngressConfig;
}

type Check = (right: boolean, place: string, allowed: string) => void;

function checkRoute(route: Fields, place: string, check: Check): void {
  check(typeof route["host"] === "string" && HOST.test(route["host"]), `${place}.host`, "a lower-case host name");
  check(isText(route["service"]), `${place}.service`, "a name");
  check(isText(route["namespace"]), `${place}.namespace`, "a name");
  check(typeof route["ready"] === "boolean", `${place}.ready`, "true or false");
  for (const flag of ["wildcard", "perWorkspace", "deploying"]) {
    check(route[flag] === undefined || typeof route[flag] === "boolean", `${place}.${flag}`, "true or false");
  }
  check(route["reason"] === undefined || typeof route["reason"] === "string", `${place}.reason`, "text");
  const { upstream } = route;
  check(
    upstream === null ||
      (isFields(upstream) &&
        (isText(upstream["socketPath"]) || (isText(upstream["host"]) && isPort(upstream["port"], 1)))),
    `${place}.upstream`,
    "{socketPath}, {host, port} or null",
  );
}

function checkTogether(config: IngressConfig, mistakes: string[]): void {
  const hosts = new Set<string>();
  for (const { host, wildcard } of config.routes) {
    const name = wildcard ? `*.${host}` : host;
    if (hosts.has(name)) {
      mistakes.push(`routes names ${name} twice`);
    }
    hosts.add(name);
  }
  if (config.tls.certificates.length === 0 && config.listeners.some(({ tls }) => tls)) {
    mistakes.push("tls.certificates must hold a certificate, because a listener has tls: true");
  }
}

function eachOf(list: unknown, place: string, check: Check, visit: (item: Fields, place: string) => void): void {
  check(Array.isArray(list), place, "a list");
  for (const [index, item] of (Array.isArray(list) ? list : []).entries()) {
    check(isFields(item), `${place}[${index}]`, "an object");
    if (isFields(item)) {
      visit(item, `${place}[${index}]`);
    }
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isPort(value: unknown, minimum: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= 65_535;
}
