import {
  type Evaluator,
  type Issuer,
  type KeySet,
  type PolicySet,
  type VerifiedToken,
  createEvaluator,
} from "@swath/auth";
import type { Logger, Peer } from "@swath/service";
import { hash } from "node:crypto";

import { Refusal } from "../errors.ts";
import { type ClientCredentials, basicAuthorization } from "../tokens/credentials.ts";
import { type StreamEvent, followEvents } from "./event-stream.ts";
import type { EndTunnels, PolicySource } from "./policy-source.ts";
import { createRevocations } from "./revocations.ts";

interface IdentityPoliciesDeps {
  /** The identity service's internal interface. */
  readonly peer: Peer;
  readonly realm: string;
  readonly issuer: Issuer;
  readonly keys: KeySet;
  /** Credentials of every protected client. */
  readonly clients: ReadonlyMap<string, ClientCredentials>;
  readonly endTunnels: EndTunnels;
  readonly logger: Logger;
  readonly clock: () => number;
  /** Milliseconds a rule set is used without asking, while changes are being told. */
  readonly maxAge: number;
}

/** The same while nobody tells of changes: the stream is broken. */
const MAX_AGE_UNTOLD = 5000;
/** How long rules that nobody called outdated are still used while the identity service cannot be reached. */
const MAX_STALE = 30_000;

/** What comes with an event: `components/identity/README.md`, "Policy interface for the gatekeeper". */
interface EventData {
  readonly clientId?: string;
  readonly sid?: string;
  readonly sub?: string;
  /** Milliseconds since 1970. */
  readonly at?: number;
  readonly jti?: string;
}

interface Known {
  readonly evaluator: Evaluator;
  readonly etag: string | undefined;
  readonly epoch: number;
  readonly at: number;
}

/**
 * Rules and revocations of the platform's own identity service: rule sets are read whole and decided on here; a stream of
 * events tells of changes the moment they happen. Tokens issued before the stream was connected are asked about once, since
 * nobody told what happened to them.
 */
export function createIdentityPolicies(deps: IdentityPoliciesDeps): PolicySource {
  const { peer, realm, issuer, keys, clients, endTunnels, logger, clock, maxAge } = deps;
  const known = new Map<string, Known>();
  const loading = new Map<string, Promise<Evaluator>>();
  const revocations = createRevocations(clock);
  /** When tokens were asked about since the stream was connected, by hash. */
  let requested = new Map<string, number>();
  /** Counts changes; a rule set read before a change is not used after it. */
  const epochs = new Map<string, number>();
  let epoch = 0;
  let connected = false;
  let hasConnected = false;
  let connectedSince = clock();
  let disconnectedSince = clock();
  const stopping = new AbortController();

  const epochOf = (clientId: string) => epoch + (epochs.get(clientId) ?? 0);
  const isCurrent = (clientId: string, { epoch: read, at }: Known) =>
    read === epochOf(clientId) && clock() - at < (connected ? maxAge : MAX_AGE_UNTOLD);

  const load = async (clientId: string): Promise<Evaluator> => {
    const credentials = clients.get(clientId);
    if (credentials === undefined) {
      throw new Refusal("FORBIDDEN", { because: `nothing is known of ${clientId}` });
    }
    for (;;) {
      const before = known.get(clientId);
      const readEpoch = epochOf(clientId);
      const at = clock();
      let read: { evaluator: Evaluator; etag: string | undefined };
      try {
        read = await readPolicySet({ peer, realm, credentials, before });
      } catch (cause) {
        if (before !== undefined && before.epoch === epochOf(clientId) && clock() - before.at < MAX_STALE) {
          return before.evaluator;
        }
        throw new Refusal("ISSUER_UNAVAILABLE", { cause });
      }
      known.set(clientId, { ...read, epoch: readEpoch, at });
      if (readEpoch === epochOf(clientId)) {
        return read.evaluator;
      }
    }
  };
  const loadOnce = (clientId: string): Promise<Evaluator> => {
    const running = loading.get(clientId) ?? load(clientId).finally(() => loading.delete(clientId));
    loading.set(clientId, running);
    return running;
  };

  const onEvent = ({ event, data }: StreamEvent) => {
    const { clientId, sid, sub, at, jti } = JSON.parse(data) as EventData;
    switch (event) {
      case "ready":
        connected = true;
        hasConnected = true;
        connectedSince = clock();
        requested = new Map();
        epoch += 1;
        logger.info("following policy changes");
        break;
      case "policy":
        if (clientId === undefined) {
          epoch += 1;
        } else {
          epochs.set(clientId, (epochs.get(clientId) ?? 0) + 1);
        }
        break;
      case "session":
        if (sid !== undefined) {
          revocations.endSession(sid);
        }
        break;
      case "user":
        if (sub !== undefined) {
          revocations.endUser(sub, at);
        }
        break;
      case "token":
        if (jti !== undefined) {
          revocations.endTokenId(jti);
        }
        break;
      case "keys":
        keys.expire();
        break;
      default:
        // A later version may tell more; what is known here is still right.
        return;
    }
    endTunnels(revocations.isRevoked);
  };
  const [follower] = clients.values();
  const following =
    follower === undefined
      ? Promise.resolve()
      : followEvents({
          peer,
          path: `/internal/realms/${encodeURIComponent(realm)}/policy-events`,
          headers: { authorization: basicAuthorization(follower) },
          onEvent,
          onBreak: (err) => {
            if (connected) {
              logger.warn({ err }, "policy changes are not told any more; asking instead");
            }
            disconnectedSince = connected ? clock() : disconnectedSince;
            connected = false;
          },
          signal: stopping.signal,
        });

  const cachedTokenState = (verified: VerifiedToken): "good" | "revoked" | "ask" => {
    if (revocations.isRevoked(verified)) {
      return "revoked";
    }
    const isNewer = (verified.claims.iat ?? 0) * 1000 > connectedSince;
    if (connected && isNewer) {
      return "good";
    }
    const askedAt = requested.get(hash("sha256", verified.token));
    return askedAt !== undefined && (connected || clock() - askedAt < MAX_AGE_UNTOLD) ? "good" : "ask";
  };

  return {
    peek: (clientId) => {
      const entry = known.get(clientId);
      return entry !== undefined && isCurrent(clientId, entry) ? entry.evaluator : undefined;
    },
    load: loadOnce,
    cachedTokenState,
    isTokenActive: async (verified) => {
      const state = cachedTokenState(verified);
      if (state !== "ask" || follower === undefined) {
        return state !== "revoked";
      }
      const batch = requested;
      const key = hash("sha256", verified.token);
      let active: boolean;
      try {
        active = await introspect(issuer, follower, verified.token);
      } catch (error) {
        if (!connected && hasConnected && clock() - disconnectedSince < MAX_STALE) {
          // The identity service restarts: for that long its last word counts.
          return true;
        }
        throw error;
      }
      if (active) {
        batch.delete(key);
        batch.set(key, clock());
        dropOldest(batch);
      } else {
        revocations.endToken(verified.token);
      }
      return active;
    },
    endSession: (verified) => {
      revocations.endToken(verified.token);
      if (verified.claims.sid !== undefined) {
        revocations.endSession(verified.claims.sid);
      }
      endTunnels(revocations.isRevoked);
    },
    ready: async () => {
      // One client whose rules cannot be read must not close the doors of all others.
      if (follower !== undefined && !hasConnected && known.size === 0) {
        await loadOnce(follower.clientId);
      }
    },
    close: async () => {
      stopping.abort();
      await following;
    },
  };
}

interface ReadOptions {
  readonly peer: Peer;
  readonly realm: string;
  readonly credentials: ClientCredentials;
  readonly before: Known | undefined;
}

async function readPolicySet({
  peer,
  realm,
  credentials,
  before,
}: ReadOptions): Promise<Pick<Known, "evaluator" | "etag">> {
  const path = `/internal/realms/${encodeURIComponent(realm)}/clients/${encodeURIComponent(credentials.clientId)}/policy-set`;
  const response = await peer.fetch(path, {
    headers: {
      authorization: basicAuthorization(credentials),
      ...(before?.etag !== undefined && { "if-none-match": before.etag }),
    },
    timeout: 5000,
  });
  if (response.status === 304 && before !== undefined) {
    return { evaluator: before.evaluator, etag: before.etag };
  }
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(
      `the rules of client ${credentials.clientId} cannot be read: the identity service answered ${response.status}`,
    );
  }
  const policySet = (await response.json()) as PolicySet;
  return { evaluator: createEvaluator(policySet), etag: response.headers.get("etag") ?? undefined };
}

/** RFC 7662 §2.1. */
async function introspect(issuer: Issuer, credentials: ClientCredentials, token: string): Promise<boolean> {
  const { status, body } = await issuer
    .call("introspection_endpoint", {
      method: "POST",
      headers: {
        authorization: basicAuthorization(credentials),
        "content-type": "application/x-www-form-urlencoded",
      },
      body: new URLSearchParams({ token, token_type_hint: "access_token" }).toString(),
    })
    .catch((cause: unknown) => {
      throw new Refusal("ISSUER_UNAVAILABLE", { cause });
    });
  if (status !== 200) {
    throw new Refusal("ISSUER_UNAVAILABLE", { cause: new Error(`introspection answered ${status}`) });
  }
  return (JSON.parse(body) as { active?: unknown }).active === true;
}

const MAX_ASKED = 100_000;

function dropOldest(requested: Map<string, number>): void {
  if (requested.size > MAX_ASKED) {
    for (const key of requested.keys().take(MAX_ASKED / 10)) {
      requested.delete(key);
    }
  }
}
