import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";

import { writeReadable } from "../files.ts";
import { type DnsChallenges, createDnsChallenges } from "./dns-challenge.ts";
import type { Presented } from "./records.ts";
import type { DnsSettings } from "./settings.ts";

/** Shows the authority what it asked for, and takes it away. Each may be repeated. */
export interface Challenges {
  readonly type: "http-01" | "dns-01";
  /** What is to be presented for a host, before it is. */
  readonly plan: (challenge: {
    readonly host: string;
    readonly token: string;
    readonly keyAuthorization: string;
  }) => Presented;
  readonly present: (presented: Presented, keyAuthorization: string) => Promise<void>;
  readonly settle: (presented: readonly Presented[], signal: AbortSignal) => Promise<void>;
  readonly cleanUp: (presented: readonly Presented[]) => Promise<void>;
}

/** @param folder where the ingress looks for responses to HTTP-01 */
export function createChallenges(folder: string, dns: DnsSettings | undefined): Challenges {
  const records = dns && createDnsChallenges(dns);
  const requireRecords = (): DnsChallenges => {
    if (records === undefined) {
      throw new Error("a DNS record of an earlier configuration is left; remove it by hand");
    }
    return records;
  };
  return {
    type: dns === undefined ? "http-01" : "dns-01",
    plan: ({ host, token, keyAuthorization }) =>
      dns === undefined
        ? { type: "http-01", token }
        : { type: "dns-01", name: `_acme-challenge.${host.replace(/^\*\./, "")}`, value: keyAuthorization },
    present: async (presented, keyAuthorization) =>
      presented.type === "http-01"
        ? writeReadable(join(folder, tokenName(presented.token)), keyAuthorization)
        : requireRecords().present(presented.name, presented.value),
    settle: async (presented, signal) => {
      const dnsRecords = presented.filter((each) => each.type === "dns-01");
      if (dnsRecords.length > 0) {
        await requireRecords().settle(dnsRecords, signal);
      }
    },
    cleanUp: async (presented) => {
      for (const each of presented) {
        await (each.type === "http-01"
          ? rm(join(folder, tokenName(each.token)), { force: true })
          : requireRecords().cleanUp(each.name, each.value));
      }
    },
  };
}

/** Tokens become file names, and the server chooses them (RFC 8555 §8.3: base64url). */
function tokenName(token: string): string {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(token)) {
    throw new Error(`the ACME server sent a token that is not base64url`);
  }
  return token;
}

/** Tokens whose files lie in the folder. */
export function listTokens(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return [];
    }
    throw error;
  }
}
