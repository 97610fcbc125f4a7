import { type Logger, createPeer, parsePeerUrl } from "@swath/service";
import { createBackOff } from "@swath/work/back-off";

import type { Events } from "../store/events.ts";

/** Records of one request. */
const BATCH = 50;
const TIMEOUT_MS = 10_000;
/** How long an event waits for a target that does not take it. */
const RETENTION_MS = 7 * 24 * 3600 * 1000;

const backOff = createBackOff({ firstSeconds: 1, maxSeconds: 300 });

interface EventTarget {
  readonly address: string;
  /** Sent as a bearer token. */
  readonly secret?: string;
}

/** Webhooks by the names that buckets call them. */
export type EventTargets = ReadonlyMap<string, EventTarget>;
/** What buckets call the registration service of the deployment. */
const REGISTRATION_TARGET = "swath-registration";

/**
 * Reads `<name>=<URL>`, separated by blanks or commas.
 * @param registration the registration service of the deployment, which watches buckets
 * @throws {Error} when it cannot be read
 */
export function parseEventTargets(setting: string | undefined, registration?: EventTarget): EventTargets {
  const entries = (setting ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  return new Map([
    ...(registration === undefined ? [] : [[REGISTRATION_TARGET, registration] as const]),
    ...entries.map((entry) => {
      const [, name, url] = /^([\w-]{1,64})=(.+)$/.exec(entry) ?? [];
      if (name === undefined || url === undefined) {
        throw new Error("OBJSTORE_EVENT_TARGETS must be <name>=<URL>, several separated by commas.");
      }
      parsePeerUrl(url);
      return [name, { address: url }] as const;
    }),
  ]);
}

interface DeliveryDeps {
  readonly events: Events;
  readonly targets: EventTargets;
  readonly logger: Logger;
  readonly now: () => number;
  readonly onSent: (target: string, status: "delivered" | "failed" | "dropped", count: number) => void;
}

interface Sender {
  readonly send: (body: string) => Promise<void>;
  readonly close: () => Promise<void>;
  running: Promise<void> | undefined;
  /** Set while a failed target is left alone. */
  timer: NodeJS.Timeout | undefined;
  failures: number;
}

/**
 * Sends events to their webhooks, at least once and each target's in order: an event is forgotten when its target has answered 2xx. A
 * target that fails is tried again with growing pauses; the others go on.
 */
export class EventDelivery {
  readonly #deps: DeliveryDeps;
  readonly #senders: ReadonlyMap<string, Sender>;
  #isClosed = false;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#senders = new Map([...deps.targets].map(([name, url]) => [name, openSender(url)]));
    deps.events.onDurable(() => this.nudge());
    this.nudge();
  }

  /** Something may wait to be sent. */
  nudge(): void {
    if (this.#isClosed) {
      return;
    }
    for (const name of this.#deps.events.listTargets()) {
      const sender = this.#senders.get(name);
      if (sender !== undefined && sender.running === undefined && sender.timer === undefined) {
        sender.running = this.#run(name, sender).finally(() => {
          sender.running = undefined;
        });
      }
    }
  }

  /** Drops what waited too long. */
  async maintain(): Promise<void> {
    const { events, logger, now, onSent } = this.#deps;
    const dropped = await events.dropOlder(now() - RETENTION_MS);
    if (dropped > 0) {
      logger.error(
        { dropped },
        "events were dropped: their webhook did not take them for a week, or too many waited for it",
      );
      onSent("", "dropped", dropped);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const sender of this.#senders.values()) {
      clearTimeout(sender.timer);
      await sender.close();
      await sender.running;
    }
  }

  async #run(name: string, sender: Sender): Promise<void> {
    const { events, logger, onSent } = this.#deps;
    while (!this.#isClosed) {
      const batch = events.list(name, BATCH);
      if (batch.length === 0) {
        return;
      }
      // What a bucket says of itself is no record and goes alone.
      const first = batch.findIndex(({ body }) => body.startsWith('{"Service"'));
      const part = first < 0 ? batch : batch.slice(0, Math.max(first, 1));
      const text = first === 0 ? (part[0]?.body ?? "") : `{"Records":[${part.map(({ body }) => body).join(",")}]}`;
      try {
        await sender.send(text);
        sender.failures = 0;
        await events.remove(part.map(({ id }) => id));
        onSent(name, "delivered", part.length);
      } catch (error) {
        if (this.#isClosed) {
          return;
        }
        sender.failures += 1;
        const delayMs = Math.round(backOff(sender.failures) * 1000);
        logger.warn({ err: error, target: name, delayMs }, "sending events failed; retrying");
        onSent(name, "failed", 1);
        sender.timer = setTimeout(() => {
          sender.timer = undefined;
          this.nudge();
        }, delayMs);
        sender.timer.unref();
        return;
      }
    }
  }
}

function openSender({ address, secret }: EventTarget): Sender {
  const isUrl = URL.canParse(address) && !address.startsWith("http+unix:");
  const url = isUrl ? new URL(address) : undefined;
  const login = url === undefined || url.username === "" ? undefined : `${url.username}:${url.password}`;
  const query = url?.search ?? "";
  const peer = createPeer(url === undefined ? address : `${url.origin}${url.pathname}`);
  const authorization =
    secret !== undefined
      ? { authorization: `Bearer ${secret}` }
      : login === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(decodeURIComponent(login)).toString("base64")}` };
  return {
    running: undefined,
    timer: undefined,
    failures: 0,
    send: async (body) => {
      const response = await peer.fetch(query, {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization },
        body,
        redirect: "manual",
        timeout: TIMEOUT_MS,
      });
      await response.body?.cancel();
      if (!response.ok) {
        throw new Error(`the webhook answers ${response.status}; expected 2xx`);
      }
    },
    close: () => peer.close(),
  };
}
