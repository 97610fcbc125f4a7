import {
  type RegistryClient,
  RegistryRefusal,
  type RegistryWriter,
  createRegistryClient,
  createRegistryWriter,
  createRemote,
} from "@swath/oci";
import { createAddressGuard } from "@swath/addresses";
import type { Sealer } from "@swath/service/seal";
import { Agent } from "undici";

import type { Sql } from "../store/database.ts";
import { type Upstream, noteResponse } from "../store/upstreams.ts";
import { readLimits } from "./limits.ts";

/** Requests to a registry of others, under the names that it knows. */
export interface OpenUpstream {
  readonly client: RegistryClient;
  readonly writer: RegistryWriter;
  /** The name there of a repository that is called so here, without its project. */
  readonly toName: (repository: string) => string;
}

export interface Upstreams {
  readonly open: (upstream: Upstream) => OpenUpstream;
  /** Notes that it did not answer, and why. */
  readonly noteFailure: (upstream: Upstream, error: unknown) => Promise<void>;
  /** Notes that it answers again. */
  readonly noteResponse: (upstream: Upstream) => Promise<void>;
  readonly seal: (secret: string, url: string) => string;
  readonly close: () => Promise<void>;
}

interface UpstreamsOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  /** Addresses, networks and hosts beside all public ones. */
  readonly allowPrivate: readonly string[];
  readonly onError: (error: unknown) => void;
}

const CONNECT_MS = 10_000;
const HEADERS_MS = 30_000;
/** Between two pieces of content. */
const BODY_MS = 60_000;

/** Registries of others: private addresses are refused, also where redirects and token services lead there. */
export function createUpstreams({ sql, sealer, allowPrivate, onError }: UpstreamsOptions): Upstreams {
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where, address) =>
      new RegistryRefusal(
        400,
        `${where} leads to ${address}, which is a private address; use a public one, or ask the operator to allow it`,
      ),
  });
  const agent = new Agent({
    connections: 64,
    connect: { lookup: guard.lookup as never, timeout: CONNECT_MS },
    headersTimeout: HEADERS_MS,
    bodyTimeout: BODY_MS,
  });
  /** With their tokens, while the upstream stays as it is. */
  const opened = new Map<string, { readonly version: number; readonly value: OpenUpstream }>();
  const open = (upstream: Upstream): OpenUpstream => {
    const { id, kind, url, username, sealedSecret } = upstream;
    const known = opened.get(id);
    if (known?.version === upstream.updatedAt.getTime()) {
      return known.value;
    }
    const password = sealedSecret === undefined ? undefined : sealer.open(sealedSecret, url);
    if (sealedSecret !== undefined && password === undefined) {
      throw new RegistryRefusal(401, `The login of ${upstream.name} cannot be read any more; set it again.`);
    }
    const remoteOf = (actions: "pull" | "pull,push") =>
      createRemote({
        url,
        actions,
        dispatcher: agent,
        checkHost: guard.checkHost,
        login: username === undefined || password === undefined ? undefined : { username, password },
        onResponse: (status, headers) => {
          const said = readLimits(status, headers);
          if (said !== undefined) {
            noteResponse(sql, id, said).catch(onError);
          }
        },
      });
    const value: OpenUpstream = {
      client: createRegistryClient({ peer: remoteOf("pull") }),
      writer: createRegistryWriter({ peer: remoteOf("pull,push") }),
      // Official images have no namespace in their names and one in their addresses.
      toName: (repository) =>
        kind === "docker-hub" && !repository.includes("/") ? `library/${repository}` : repository,
    };
    opened.set(id, { version: upstream.updatedAt.getTime(), value });
    return value;
  };
  return {
    open,
    noteFailure: (upstream, error) =>
      noteResponse(sql, upstream.id, {
        pauseSeconds: 0,
        limit: undefined,
        remaining: undefined,
        failure: explain(error),
      }),
    noteResponse: ({ id }) =>
      noteResponse(sql, id, { pauseSeconds: 0, limit: undefined, remaining: undefined, failure: undefined }),
    seal: sealer.seal,
    close: () => agent.destroy(),
  };
}

/** Why a request failed, in words; the cause of undici's errors is what says it. */
export function explain(error: unknown): string {
  if (error instanceof RegistryRefusal) {
    return error.message;
  }
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
}
