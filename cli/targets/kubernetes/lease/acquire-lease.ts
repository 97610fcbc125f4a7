import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import type { Connection } from "../api/connection.ts";
import { nameOf } from "../api/objects.ts";
import { KubernetesError, describeApiError, statusOf } from "../kubernetes-error.ts";
import { RECORD_NAMESPACE } from "../state/names.ts";
import { releaseWhenInterrupted } from "./release-when-interrupted.ts";

/** Seconds after which a holder that says nothing more is taken for dead. */
const DURATION = 15;
/** Milliseconds between two signs of life, and between two looks at somebody else's. */
const INTERVAL = 3000;

const LEASE = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "swath-apply", namespace: RECORD_NAMESPACE },
} as const;

interface LiveLease {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion?: string };
  readonly spec: { readonly holderIdentity?: string };
}

/** The right to change the deployment of a cluster, which one machine at a time has. */
export interface Lease {
  /** Aborted when somebody else took it over, because this machine said nothing for too long. */
  readonly signal: AbortSignal;
  readonly release: () => Promise<void>;
}

interface HoldOptions {
  readonly connection: Connection;
  /** Called once, with who changes the deployment at present, when that has to be waited for. */
  readonly onWait: (holder: string) => void;
}

/**
 * Waits until no other machine changes the deployment of this cluster, and keeps others waiting until it is released. A holder that
 * died is waited for until its last sign of life is 15 seconds old by the clock of this machine alone.
 * Undefined where the deployment's namespace is not there: nothing is deployed that somebody could change.
 */
export async function acquireLease({ connection, onWait }: HoldOptions): Promise<Lease | undefined> {
  const holder = `${userInfo().username}@${hostname()} (process ${process.pid}, ${randomUUID().slice(0, 8)})`;
  const client = createLeaseClient(connection);
  const seen = { version: "", at: Date.now(), waited: false };
  for (;;) {
    const made = await client.create(holder);
    if (made === "no namespace") {
      return undefined;
    }
    if (made !== "taken") {
      return keep(client, made, holder);
    }
    const other = await client.read();
    if (other === undefined) {
      continue;
    }
    const version = other.metadata.resourceVersion ?? "";
    if (version !== seen.version) {
      Object.assign(seen, { version, at: Date.now() });
    } else if (Date.now() - seen.at > DURATION * 1000) {
      const taken = await client.replace(other, holder);
      if (taken !== undefined) {
        return keep(client, taken, holder);
      }
    }
    if (!seen.waited) {
      seen.waited = true;
      onWait(other.spec.holderIdentity ?? "somebody");
    }
    await sleep(INTERVAL / 3);
  }
}

/** Gives signs of life until it is released or lost. */
function keep(client: LeaseClient, first: LiveLease, holder: string): Lease {
  const lost = new AbortController();
  const released = new AbortController();
  let held: LiveLease | undefined = first;
  let lastRenewal = Date.now();
  const renew = async (): Promise<void> => {
    while (!released.signal.aborted) {
      try {
        await sleep(INTERVAL, undefined, { signal: released.signal });
      } catch {
        return;
      }
      try {
        const present = await client.read();
        // Gone together with its namespace, or by an operator's hand.
        if (present === undefined || released.signal.aborted) {
          return;
        }
        held = present.spec.holderIdentity === holder ? await client.replace(present, holder) : undefined;
      } catch {
        // An API server that does not answer for a moment; others have to wait for as long.
        if (Date.now() - lastRenewal < DURATION * 1000) {
          continue;
        }
        held = undefined;
      }
      if (held === undefined) {
        lost.abort(new KubernetesError("another machine changes this deployment now; what is left to do was given up"));
        return;
      }
      lastRenewal = Date.now();
    }
  };
  const renewing = renew();
  const release = async (): Promise<void> => {
    released.abort();
    await renewing;
    if (held !== undefined) {
      await client.remove(held);
    }
  };
  // Where it cannot be given back, others wait until its last sign of life is old.
  const forget = releaseWhenInterrupted(() => release().catch(() => {}));
  return {
    signal: lost.signal,
    release: () => {
      forget();
      return release();
    },
  };
}

type LeaseClient = ReturnType<typeof createLeaseClient>;

function createLeaseClient({ objects }: Connection) {
  const specOf = (holderIdentity: string) => ({
    holderIdentity,
    leaseDurationSeconds: DURATION,
    // MicroTime: six digits after the second.
    renewTime: new Date().toISOString().replace("Z", "000Z"),
  });
  const fail = (what: string) => (cause: unknown) => {
    throw new KubernetesError(`${nameOf(LEASE)} could not be ${what}: ${describeApiError(cause)}`, { cause });
  };
  return {
    create: async (holder: string): Promise<LiveLease | "taken" | "no namespace"> => {
      try {
        return (await objects.create({ ...LEASE, spec: specOf(holder) })) as unknown as LiveLease;
      } catch (error) {
        return statusOf(error) === 409
          ? "taken"
          : // A namespace that is going takes nothing new.
            statusOf(error) === 404 || /is being terminated/.test(describeApiError(error))
            ? "no namespace"
            : fail("made")(error);
      }
    },
    read: async (): Promise<LiveLease | undefined> => {
      try {
        return (await objects.read(LEASE)) as unknown as LiveLease;
      } catch (error) {
        return statusOf(error) === 404 ? undefined : fail("read")(error);
      }
    },
    /** Makes the lease this holder's, unless it has changed since it was read. */
    replace: async (
      { metadata: { name, namespace, resourceVersion } }: LiveLease,
      holder: string,
    ): Promise<LiveLease | undefined> => {
      try {
        const metadata = { name, namespace, ...(resourceVersion !== undefined && { resourceVersion }) };
        return (await objects.replace({ ...LEASE, metadata, spec: specOf(holder) })) as unknown as LiveLease;
      } catch (error) {
        return statusOf(error) === 409 || statusOf(error) === 404 ? undefined : fail("renewed")(error);
      }
    },
    remove: async ({ metadata: { resourceVersion } }: LiveLease): Promise<void> => {
      try {
        await objects.delete(LEASE, { preconditions: { resourceVersion } });
      } catch (error) {
        // Gone, or somebody else's by now.
        if (statusOf(error) !== 404 && statusOf(error) !== 409) {
          fail("released")(error);
        }
      }
    },
  };
}
