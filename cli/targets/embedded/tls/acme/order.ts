import type { Authorization, Client, Order } from "acme-client";
import { setTimeout as sleep } from "node:timers/promises";

import type { Challenges } from "./challenges.ts";
import { coversAll, generateKeyPem, parseCertificate } from "./keys.ts";
import { AcmeError, AcmeProblem, type Problem } from "./problem.ts";
import type { PendingOrder } from "./records.ts";
import { type AcmeSession, retryBadNonce } from "./session.ts";

interface OrderContext {
  readonly session: AcmeSession;
  readonly challenges: Challenges;
  readonly hosts: readonly string[];
  /** Left over by an attempt that was interrupted. */
  readonly pending: PendingOrder | undefined;
  /** Keeps the state of the order; called before each step that the server or others will see. */
  readonly save: (pending: PendingOrder | undefined) => void;
  /** Called before a new order is made: the last place where a limit may stop it. */
  readonly onNewOrder: () => void;
  /** Identifies the certificate that this one replaces (RFC 9773 §5). */
  readonly replaces: string | undefined;
  readonly signal: AbortSignal;
}

/** An authority may take minutes to look from several places. */
const POLL_TIMEOUT_MS = 180_000;
const MIN_POLL_MS = 250;
const MAX_POLL_MS = 10_000;

/**
 * Gets one certificate: chain and key as one PEM text. Every step is written down first, so that an order goes on where it was,
 * whenever the process ended.
 * @throws {AcmeError}
 */
export async function completeOrder(context: OrderContext): Promise<string> {
  const { challenges, hosts, save } = context;
  let pending: PendingOrder = context.pending ?? { keyPem: generateKeyPem(), presented: [] };
  const keep = (change: Partial<PendingOrder>) => {
    pending = { ...pending, ...change };
    save(pending);
  };
  try {
    const order = await openOrder(context, pending, keep);
    await proveHosts(context, order, (presented) => keep({ presented: [...pending.presented, ...presented] }));
    const chain = await finalize(context, order, pending.keyPem);
    const pem = `${chain.trimEnd()}\n${pending.keyPem}`;
    const certificate = parseCertificate(pem);
    if (certificate === undefined || !coversAll(certificate, hosts)) {
      throw new AcmeError(
        "the ACME server sent a certificate for another key or other names",
        "It is ordered again later.",
      );
    }
    await challenges.cleanUp(pending.presented);
    return pem;
  } catch (error) {
    // What may still come of the order is kept; what was refused is over.
    if (isFinal(error)) {
      await challenges.cleanUp(pending.presented);
      save(undefined);
    }
    throw error;
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof AcmeProblem && error.status < 500 && !["badNonce", "rateLimited"].includes(error.kind);
}

async function openOrder(
  { session: { client, directoryField }, hosts, replaces, onNewOrder }: OrderContext,
  pending: PendingOrder,
  keep: (change: Partial<PendingOrder>) => void,
): Promise<Order> {
  const existing = pending.orderUrl === undefined ? undefined : await findOrder(client, pending.orderUrl, hosts);
  if (existing !== undefined) {
    return existing;
  }
  onNewOrder();
  keep({});
  const identifiers = hosts.map((value) => ({ type: "dns", value }));
  const isReplacement = replaces !== undefined && (await directoryField("renewalInfo")) !== undefined;
  const create = (more: object) => retryBadNonce(() => client.createOrder({ identifiers, ...more }));
  const order = isReplacement
    ? // A certificate that was replaced already, or is unknown after a change of servers: an ordinary order.
      await create({ replaces }).catch((error: unknown) => {
        if (error instanceof AcmeProblem && ["alreadyReplaced", "malformed", "conflict"].includes(error.kind)) {
          return create({});
        }
        throw error;
      })
    : await create({});
  keep({ orderUrl: order.url });
  return order;
}

/** The order of an earlier attempt while something may come of it. */
async function findOrder(client: Client, url: string, hosts: readonly string[]): Promise<Order | undefined> {
  try {
    const order = await readOrder(client, url);
    const isSame =
      order.identifiers.length === hosts.length && order.identifiers.every(({ value }) => hosts.includes(value));
    return isSame && order.status !== "invalid" ? order : undefined;
  } catch (error) {
    // Forgotten by the server, or another account's.
    if (error instanceof AcmeProblem && [400, 403, 404].includes(error.status) && error.kind !== "badNonce") {
      return undefined;
    }
    throw error;
  }
}

async function readOrder(client: Client, url: string): Promise<Order> {
  return { ...(await retryBadNonce(() => client.getOrder({ url } as Order))), url };
}

async function proveHosts(
  { session, challenges, signal }: OrderContext,
  order: Order,
  keep: (presented: Parameters<Challenges["cleanUp"]>[0]) => void,
): Promise<void> {
  if (order.status !== "pending") {
    return;
  }
  const { client } = session;
  const open = (await readAuthorizations(client, order)).filter(({ status }) => status === "pending");
  const steps = await Promise.all(
    open.map(async (authorization) => {
      const challenge = chooseChallenge(authorization, challenges.type);
      const keyAuthorization = await client.getChallengeKeyAuthorization(challenge);
      const presented = challenges.plan({
        host: authorization.identifier.value,
        token: challenge.token,
        keyAuthorization,
      });
      return { challenge, keyAuthorization, presented };
    }),
  );
  keep(steps.map(({ presented }) => presented));
  for (const { presented, keyAuthorization } of steps) {
    await challenges.present(presented, keyAuthorization);
  }
  await challenges.settle(
    steps.map(({ presented }) => presented),
    signal,
  );
  for (const { challenge } of steps.filter((step) => step.challenge.status === "pending")) {
    await retryBadNonce(() => client.completeChallenge(challenge));
  }
  await poll({
    session,
    url: order.url,
    what: "the authority has not come to a decision about the names",
    signal,
    look: async () => {
      const authorizations = await readAuthorizations(client, order);
      const refused = authorizations.find(({ status }) => status !== "pending" && status !== "valid");
      if (refused !== undefined) {
        throw toProblem(refused);
      }
      return authorizations.every(({ status }) => status === "valid") ? true : undefined;
    },
  });
}

function readAuthorizations(client: Client, order: Order): Promise<Authorization[]> {
  return retryBadNonce(() => client.getAuthorizations(order));
}

function chooseChallenge({ challenges, identifier }: Authorization, type: Challenges["type"]) {
  const found = challenges.find((challenge) => challenge.type === type);
  if (found === undefined) {
    throw new AcmeError(
      `${identifier.value}: the ACME server does not offer ${type}`,
      `Set ACME_CHALLENGE to one that it offers: ${challenges.map((challenge) => challenge.type).join(", ")}.`,
    );
  }
  return found;
}

function toProblem({ identifier, challenges, status }: Authorization): AcmeProblem {
  const problem = (challenges.find(({ error }) => error !== undefined)?.error ?? {}) as Problem;
  const detail = problem.detail ?? `the authorization is ${status}`;
  return new AcmeProblem({ ...problem, detail }, { status: 403, host: identifier.value });
}

async function finalize({ session, hosts, signal }: OrderContext, order: Order, keyPem: string): Promise<string> {
  const { client } = session;
  const { crypto } = await import("acme-client");
  const [, request] = await crypto.createCsr({ altNames: [...hosts] }, keyPem);
  let requested = false;
  const valid = await poll({
    session,
    url: order.url,
    what: "the certificate is not ready yet",
    signal,
    look: async () => {
      const current = await readOrder(client, order.url);
      if (current.status === "invalid") {
        throw new AcmeProblem(
          { detail: "the order is invalid", ...(current.error as Problem | undefined) },
          { status: 403 },
        );
      }
      if (current.status === "ready" && !requested) {
        requested = true;
        await retryBadNonce(() => client.finalizeOrder(current, request));
        return undefined;
      }
      return current.status === "valid" ? current : undefined;
    },
  });
  return retryBadNonce(() => client.getCertificate(valid));
}

interface PollOptions<T> {
  readonly session: AcmeSession;
  readonly url: string;
  /** Completes "…" when the time is over. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly look: () => Promise<T | undefined>;
}

async function poll<T>({ session, url, what, signal, look }: PollOptions<T>): Promise<T> {
  const deadline = performance.now() + POLL_TIMEOUT_MS;
  for (let delay = MIN_POLL_MS; ; delay = Math.min(delay * 1.5, MAX_POLL_MS)) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    if (performance.now() > deadline) {
      throw new AcmeError(`${what} after ${POLL_TIMEOUT_MS / 1000} s`, "Nothing: the same order goes on later.");
    }
    await sleep(Math.min(Math.max(delay, session.transport.retryAfterMs(url) ?? 0), MAX_POLL_MS), undefined, {
      signal,
    });
  }
}
