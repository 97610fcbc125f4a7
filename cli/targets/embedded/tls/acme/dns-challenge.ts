import { execFile } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { sendDnsUpdate } from "./dns-update.ts";
import { AcmeError, toOneLine } from "./problem.ts";
import type { DnsSettings } from "./settings.ts";

/** Puts TXT records of DNS-01 into the DNS and takes them out again. Both may be repeated. */
export interface DnsChallenges {
  readonly present: (name: string, value: string) => Promise<void>;
  readonly cleanUp: (name: string, value: string) => Promise<void>;
  /** Resolves when the records can be seen. */
  readonly settle: (
    records: readonly { readonly name: string; readonly value: string }[],
    signal: AbortSignal,
  ) => Promise<void>;
}

const HOOK_TIMEOUT_MS = 120_000;
const MAX_HOOK_OUTPUT_BYTES = 64 * 1024;
const MAX_SHOWN_CHARS = 300;
const SEEN_TIMEOUT_MS = 60_000;
const SEEN_POLL_MS = 500;

export function createDnsChallenges(settings: DnsSettings): DnsChallenges {
  return settings.kind === "hook" ? createHook(settings) : createUpdates(settings);
}

/** Runs `PROGRAM present|cleanup NAME VALUE`; it ends with 0 when the record is there, or gone. */
function createHook({ program, propagationSeconds }: DnsSettings & { kind: "hook" }): DnsChallenges {
  const run = (action: "present" | "cleanup", name: string, value: string) =>
    new Promise<void>((resolve, reject) => {
      const { PATH, HOME } = process.env;
      const options = { timeout: HOOK_TIMEOUT_MS, maxBuffer: MAX_HOOK_OUTPUT_BYTES, env: { PATH, HOME } };
      execFile(program, [action, name, value], options, (error, stdout, stderr) => {
        if (error === null) {
          resolve();
          return;
        }
        const reason = error.killed
          ? `it took longer than ${HOOK_TIMEOUT_MS / 1000} s`
          : (stderr || stdout || error.message).trim();
        reject(
          new AcmeError(
            `${program} ${action} ${name} failed: ${toOneLine(reason).slice(-MAX_SHOWN_CHARS)}`,
            `Run it by hand: ${program} ${action} ${name} ${value}`,
            { cause: error },
          ),
        );
      });
    });
  return {
    present: (name, value) => run("present", name, value),
    cleanUp: (name, value) => run("cleanup", name, value),
    settle: async (_records, signal) => {
      await sleep(propagationSeconds * 1000, undefined, { signal });
    },
  };
}

function createUpdates({ host, port, zone, key, propagationSeconds }: DnsSettings & { kind: "update" }): DnsChallenges {
  const change = async (action: "add" | "remove", name: string, value: string) => {
    const resolver = await openResolver(host, port);
    const target = await followAlias(name);
    await sendDnsUpdate({
      server: { host, port },
      zone: zone ?? (await findZone(resolver, target)),
      ...(key && { key }),
      action,
      name: target,
      value,
    });
  };
  return {
    present: (name, value) => change("add", name, value),
    cleanUp: (name, value) => change("remove", name, value),
    settle: async (records, signal) => {
      const resolver = await openResolver(host, port);
      for (const { name, value } of records) {
        await waitForRecord(resolver, await followAlias(name), value, signal);
      }
      // Secondaries follow their primary by notifications.
      await sleep(propagationSeconds * 1000, undefined, { signal });
    },
  };
}

async function openResolver(host: string, port: number): Promise<Resolver> {
  const address = isIP(host) === 0 ? await findAddress(host) : host;
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  resolver.setServers([address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`]);
  return resolver;
}

async function findAddress(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (error) {
    throw new AcmeError(`the DNS server ${host} does not resolve`, "Set ACME_DNS_SERVER to its address.", {
      cause: error,
    });
  }
}

/** Where `_acme-challenge.…` is delegated by a CNAME record, the record it leads to. */
async function followAlias(name: string): Promise<string> {
  try {
    const [target] = await new Resolver({ timeout: 2000, tries: 1 }).resolveCname(name);
    return target ?? name;
  } catch {
    // No alias, or no resolver that would know: the name itself is meant.
    return name;
  }
}

/** The zone that holds a name: the nearest name above it that has an SOA record. */
async function findZone(resolver: Resolver, name: string): Promise<string> {
  for (let zone = name; zone.includes("."); zone = zone.slice(zone.indexOf(".") + 1)) {
    try {
      await resolver.resolveSoa(zone);
      return zone;
    } catch (error) {
      if (!["ENODATA", "ENOTFOUND", "EBADRESP"].includes((error as NodeJS.ErrnoException).code ?? "")) {
        break;
      }
    }
  }
  throw new AcmeError(
    `the DNS server does not say which zone holds ${name}`,
    "Set ACME_DNS_ZONE to the zone, and check that ACME_DNS_SERVER is a server of it.",
  );
}

async function waitForRecord(resolver: Resolver, name: string, value: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + SEEN_TIMEOUT_MS;
  for (;;) {
    const records = await resolver.resolveTxt(name).catch(() => []);
    if (records.some((parts) => parts.join("") === value)) {
      return;
    }
    if (performance.now() > deadline) {
      throw new AcmeError(
        `the DNS server took the TXT record of ${name} and does not give it out`,
        "Look at the DNS server's log; the update may have gone to another view or zone.",
      );
    }
    await sleep(SEEN_POLL_MS, undefined, { signal });
  }
}
