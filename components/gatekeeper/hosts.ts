import type { ProtectedResource } from "@swath/manifest";
import type { ClientCredentials } from "./tokens/credentials.ts";

/** A protected host, ready for requests. */
export interface ProtectedHost {
  /** Public base address without a slash at the end: `https://ades.example.org`. */
  readonly url: string;
  /** Peer address of the service behind. */
  readonly upstream: string;
  readonly credentials: ClientCredentials;
  /** Paths that pass without a token. */
  readonly openPaths: readonly RegExp[];
  readonly resources: readonly ProtectedResource[];
}

export interface HostTable {
  /** By canonical name; hosts below a wildcard have their own address. */
  readonly find: (name: string) => ProtectedHost | undefined;
  readonly all: readonly ProtectedHost[];
  /** Whose enforcement point a host is (variant B). */
  readonly findEnforced: (name: string) => ProtectedHost | undefined;
}

interface HostEntry {
  readonly url: string;
  readonly upstream: string;
  readonly clientId: string;
  readonly secret: string;
  readonly openPaths?: readonly string[];
  readonly wildcard?: boolean;
  /** The host of each workspace too: `<service>.<workspace>.<domain>`. */
  readonly perWorkspace?: boolean;
  readonly enforcementHosts?: readonly string[];
  readonly resources?: readonly ProtectedResource[];
}

/**
 * Reads GATEKEEPER_HOSTS: host name to `{ url, upstream, clientId, secret, openPaths?, wildcard?, perWorkspace?, resources? }`, where
 * `upstream` and `secret` name environment variables.
 * @throws {TypeError} naming every mistake
 */
export function parseHosts(json: string, env: Readonly<Record<string, string | undefined>>): HostTable {
  const mistakes: string[] = [];
  const exact = new Map<string, ProtectedHost>();
  const enforced = new Map<string, ProtectedHost>();
  const wildcards = new Map<string, ProtectedHost>();
  const perWorkspace = new Map<string, ProtectedHost>();
  for (const [name, entry] of Object.entries(parseObject(json) as Record<string, HostEntry>)) {
    const read = (field: "upstream" | "secret") => {
      const value = env[entry[field]];
      if (value === undefined || value === "") {
        mistakes.push(
          `${name}: ${field} names the environment variable ${JSON.stringify(entry[field])}, which is not set`,
        );
      }
      return value ?? "";
    };
    if (typeof entry.url !== "string" || !URL.canParse(entry.url)) {
      mistakes.push(`${name}: url is not a URL`);
    }
    if (typeof entry.clientId !== "string" || entry.clientId === "") {
      mistakes.push(`${name}: clientId is missing`);
    }
    const host: ProtectedHost = {
      url: entry.url,
      upstream: read("upstream"),
      credentials: { clientId: entry.clientId, secret: read("secret") },
      openPaths: (entry.openPaths ?? []).flatMap((pattern) => {
        try {
          return [new RegExp(pattern, "u")];
        } catch {
          mistakes.push(`${name}: openPaths holds ${JSON.stringify(pattern)}, which is not a regular expression`);
          return [];
        }
      }),
      resources: entry.resources ?? [],
    };
    exact.set(name.toLowerCase(), host);
    if (entry.perWorkspace === true) {
      perWorkspace.set(name.toLowerCase(), host);
    }
    for (const name of entry.enforcementHosts ?? []) {
      enforced.set(name.toLowerCase(), host);
    }
    if (entry.wildcard === true) {
      wildcards.set(name.toLowerCase(), host);
    }
  }
  if (mistakes.length > 0) {
    throw new TypeError(`GATEKEEPER_HOSTS is not usable:\n${mistakes.map((mistake) => `  ${mistake}`).join("\n")}`);
  }
  return {
    all: [...exact.values()],
    find: (name) =>
      exact.get(name) ??
      (wildcards.size > 0 ? findBelow(wildcards, name) : undefined) ??
      findOfWorkspace(perWorkspace, name),
    findEnforced: (name) => enforced.get(name),
  };
}

function findOfWorkspace(hosts: ReadonlyMap<string, ProtectedHost>, name: string): ProtectedHost | undefined {
  const parent = name.replace(/^([^.]+)\.[a-z0-9-]+\./, "$1.");
  const host = hosts.get(parent);
  return host && { ...host, url: host.url.replace(`//${parent}`, () => `//${name}`) };
}

function findBelow(wildcards: ReadonlyMap<string, ProtectedHost>, name: string): ProtectedHost | undefined {
  for (let at = name.indexOf("."); at >= 0; at = name.indexOf(".", at + 1)) {
    const parent = name.slice(at + 1);
    const host = wildcards.get(parent);
    if (host !== undefined) {
      return { ...host, url: host.url.replace(`//${parent}`, () => `//${name}`) };
    }
  }
  return undefined;
}

function parseObject(json: string): object {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw new TypeError("GATEKEEPER_HOSTS is not JSON", { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("GATEKEEPER_HOSTS is not a JSON object of hosts");
  }
  return value;
}
