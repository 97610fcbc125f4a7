import { LRUCache } from "lru-cache";

import { type EventName, type NotificationRule, isOf, parseNotification } from "../protocol/notification.ts";
import type { IndexDatabase } from "./index/index-database.ts";
import type { Bucket, Version } from "./rows.ts";

const MAX_REMEMBERED = 1000;
/** Events that wait for one target, about 100 MB: a webhook that is down must not fill the disk of everybody. */
const MAX_WAITING = 100_000;
/** Events that are dropped in one transaction: others write meanwhile. */
const DROP_STEP = 500;

/** Who caused a change, and by which request. */
export interface Origin {
  readonly requestId: string;
  readonly address: string;
  readonly principal: string;
}

export interface StoredEvent {
  readonly id: number;
  readonly body: string;
  readonly created: number;
}

interface EventsDeps {
  readonly index: IndexDatabase;
  readonly region: string;
  readonly now: () => number;
  readonly maxWaiting?: number;
}

/** What buckets tell of: kept in the same transaction as the change, so that it is told exactly when the change is durable. */
export class Events {
  readonly #deps: EventsDeps;
  /** Rules by their document: a bucket's row is another after each write. */
  readonly #rules = new LRUCache<string, readonly NotificationRule[]>({ max: MAX_REMEMBERED });
  #onDurable: () => void = () => {};
  /** Whether there are events in the batch of changes that is open, and in the one that is on its way to the disk. */
  #isInOpen = false;
  #isInCommitted = false;
  #overflowed = 0;

  constructor(deps: EventsDeps) {
    this.#deps = deps;
    deps.index.onBatch({
      commit: () => {
        this.#isInCommitted = this.#isInOpen;
        this.#isInOpen = false;
      },
      // By now the next batch may have events, which readers do not see yet.
      durable: () => {
        if (this.#isInCommitted) {
          this.#isInCommitted = false;
          this.#onDurable();
        }
      },
      undo: () => {},
    });
  }

  /** Who is called when new events are on the disk. */
  onDurable(listener: () => void): void {
    this.#onDurable = listener;
  }

  /** Keeps an event for every rule of the bucket that asks for it; inside `mutate`. */
  record(
    bucket: Bucket,
    name: EventName,
    version: Pick<Version, "key" | "seq" | "size" | "etag" | "version">,
    origin?: Origin,
  ): void {
    if (bucket.notification === null) {
      return;
    }
    for (const rule of this.#parse(bucket.notification)) {
      if (isOf(rule, name, version.key)) {
        this.#insert(rule.target, this.#describe(bucket, rule, { name, version, origin }));
      }
    }
  }

  /** Tells a target that a bucket will tell it something; inside `mutate`. */
  recordTest(bucket: Bucket, target: string, requestId: string): void {
    const Time = new Date(this.#deps.now()).toISOString();
    this.#insert(target, {
      Service: "Amazon S3",
      Event: "s3:TestEvent",
      Time,
      Bucket: bucket.name,
      RequestId: requestId,
      HostId: requestId,
    });
  }

  /** Targets that something waits for. */
  listTargets(): readonly string[] {
    return this.#deps.index
      .all<{ target: string }>("select target from event_targets where waiting > 0")
      .map(({ target }) => target);
  }

  /** The oldest events of a target. */
  list(target: string, limit: number): readonly StoredEvent[] {
    return this.#deps.index.all<StoredEvent>(
      "select id, body, created from events where target = ? order by id limit ?",
      target,
      limit,
    );
  }

  remove(ids: readonly number[]): Promise<void> {
    const { index } = this.#deps;
    return index.mutate(() => ids.forEach((id) => index.run("delete from events where id = ?", id)));
  }

  /** Drops what nobody took in time, a step at a time; gives how many, with those that were too many for their target before. */
  async dropOlder(than: number): Promise<number> {
    const { index } = this.#deps;
    let dropped = this.#overflowed;
    this.#overflowed = 0;
    for (;;) {
      const step = await index.mutate(
        () =>
          index.run(
            "delete from events where id in (select id from events where created < ? order by created limit ?)",
            than,
            DROP_STEP,
          ).changes,
      );
      dropped += Number(step);
      if (step < DROP_STEP) {
        return dropped;
      }
    }
  }

  #parse(document: string): readonly NotificationRule[] {
    let rules = this.#rules.get(document);
    if (rules === undefined) {
      rules = parseNotification(document);
      this.#rules.set(document, rules);
    }
    return rules;
  }

  #insert(target: string, body: object): void {
    const { index, now } = this.#deps;
    index.run("insert into events (target, body, created) values (?, ?, ?)", target, JSON.stringify(body), now());
    this.#isInOpen = true;
    this.#dropOverflow(target);
  }

  /** The oldest go where too many wait: what comes next tells more of the state that a target has to reach. */
  #dropOverflow(target: string): void {
    const { index, maxWaiting = MAX_WAITING } = this.#deps;
    const [found] = index.all<{ waiting: number }>("select waiting from event_targets where target = ?", target);
    if ((found?.waiting ?? 0) > maxWaiting) {
      index.run("delete from events where id = (select min(id) from events where target = ?)", target);
      this.#overflowed += 1;
    }
  }

  /** A record as Amazon S3 writes it (event version 2.1). */
  #describe(
    bucket: Bucket,
    rule: NotificationRule,
    {
      name,
      version,
      origin,
    }: {
      readonly name: EventName;
      readonly version: Pick<Version, "key" | "seq" | "size" | "etag" | "version">;
      readonly origin: Origin | undefined;
    },
  ): object {
    const isCreated = name.startsWith("ObjectCreated:");
    return {
      eventVersion: "2.1",
      eventSource: "aws:s3",
      awsRegion: this.#deps.region,
      eventTime: new Date(this.#deps.now()).toISOString(),
      eventName: name,
      userIdentity: { principalId: origin?.principal ?? "s3.amazonaws.com" },
      requestParameters: { sourceIPAddress: origin?.address ?? "" },
      responseElements: { "x-amz-request-id": origin?.requestId ?? "", "x-amz-id-2": origin?.requestId ?? "" },
      s3: {
        s3SchemaVersion: "1.0",
        configurationId: rule.id,
        bucket: {
          name: bucket.name,
          ownerIdentity: { principalId: bucket.owner },
          arn: `arn:aws:s3:::${bucket.name}`,
        },
        object: {
          // As in a form: a blank is a plus.
          key: encodeURIComponent(version.key).replaceAll("%20", "+").replaceAll("%2F", "/"),
          ...(isCreated && { size: version.size, eTag: version.etag }),
          ...(version.version !== "null" && { versionId: version.version }),
          sequencer: version.seq.toString(16).toUpperCase().padStart(16, "0"),
        },
      },
    };
  }
}
