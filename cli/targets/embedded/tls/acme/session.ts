import type { Client } from "acme-client";

import { AcmeProblem } from "./problem.ts";
import type { AcmeSettings } from "./settings.ts";
import { type Transport, createTransport } from "./transport.ts";

/** An open conversation with one ACME server as one account. */
export interface AcmeSession {
  readonly client: Client;
  readonly transport: Transport;
  /** Value of a field of the directory; undefined when the server has none. */
  readonly directoryField: (name: string) => Promise<string | undefined>;
}

interface OpenOptions {
  readonly settings: AcmeSettings;
  readonly accountKey: string;
  readonly accountUrl?: string;
  readonly now: () => number;
}

const DIRECTORY_TTL_MS = 24 * 3_600_000;

/**
 * `acme-client` signs, keeps nonces and proves the external account; requests travel over a transport of our own, since the
 * library's turns a refused connection into a TypeError, drops the type of a problem, and sleeps as long as a server says.
 */
export async function openSession({ settings, accountKey, accountUrl, now }: OpenOptions): Promise<AcmeSession> {
  // Loaded when the first certificate is asked for: most clusters never need it.
  const { Client, axios } = await import("acme-client");
  const transport = createTransport(settings.caFile, now);
  // The library has one HTTP client for all: a supervisor has one ACME server at a time.
  axios.defaults.adapter = async (config) => {
    const body = config.data as string | undefined;
    const response = await transport.send({
      url: config.url ?? "",
      method: config.method ?? "get",
      headers: { "content-type": "application/jose+json" },
      ...(body !== undefined && { body }),
    });
    return {
      data: response.text,
      status: response.status,
      statusText: "",
      headers: { ...response.headers },
      config,
    };
  };
  const client = new Client({
    directoryUrl: settings.directoryUrl,
    accountKey,
    ...(accountUrl !== undefined && { accountUrl }),
    ...(settings.externalAccount && { externalAccountBinding: settings.externalAccount }),
  });
  let directory: Readonly<Record<string, unknown>> = {};
  let directoryUntil = 0;
  const readDirectory = async () => {
    const { text } = await transport.send({ url: settings.directoryUrl, method: "GET" });
    directory = JSON.parse(text) as Readonly<Record<string, unknown>>;
    directoryUntil = now() + DIRECTORY_TTL_MS;
  };
  return {
    client,
    transport,
    directoryField: async (name) => {
      if (directoryUntil <= now()) {
        await readDirectory();
      }
      const value = directory[name];
      return typeof value === "string" ? value : undefined;
    },
  };
}

const MAX_NONCE_ROUNDS = 8;

/** Repeats what failed because every nonce was refused (RFC 8555 §6.5): the request itself had no effect. */
export async function retryBadNonce<T>(work: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AcmeProblem && error.kind === "badNonce" && round < MAX_NONCE_ROUNDS)) {
        throw error;
      }
    }
  }
}
