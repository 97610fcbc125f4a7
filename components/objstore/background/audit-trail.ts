import type { AuditEntry } from "@swath/postgres/audit";

import { addressOf } from "../access/circumstances.ts";
import type { RequestEntry } from "../service.ts";

export interface AuditTrail {
  /** Notes a request that was carried out, where the trail is for it. */
  readonly add: (entry: RequestEntry) => void;
  /** Notes what is held back still. */
  readonly close: () => void;
}

interface AuditTrailOptions {
  readonly note: (entry: AuditEntry) => void;
  readonly rootUser: string;
  /** How long deletions of objects are counted before they are noted. */
  readonly countMs?: number;
}

/** Deletions that differ in caller or bucket, at most. */
const MAX_COUNTED = 1000;
const COUNT_MS = 60_000;
const MAX_TARGET = 500;
const READS = /^(?:Get|List|Head)/;
/** Who may do what, and what is kept of what they did. */
const RIGHTS =
  /Policy|Acl|AccessBlock|Ownership|AccessKey|User|Lifecycle|Versioning|Logging|Notification|Lock|Retention|LegalHold|Cors|Encryption/;
const BUCKETS = new Set(["CreateBucket", "DeleteBucket"]);
const DELETIONS = new Set(["DeleteObject", "DeleteObjects"]);

/**
 * Brings changes of rights, keys and buckets into the audit trail of the deployment, and deletions of objects by caller and bucket, once
 * a minute: jobs remove thousands of files at a time, and each is a line of the bucket's access log, where it has one.
 */
export function createAuditTrail({ note, rootUser, countMs = COUNT_MS }: AuditTrailOptions): AuditTrail {
  const deletions = new Map<string, { readonly entry: AuditEntry; requests: number }>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    for (const { entry, requests } of deletions.values()) {
      note({ ...entry, details: { ...entry.details, requests } });
    }
    deletions.clear();
  };
  return {
    add: (request) => {
      const { operation, status, caller, address, message } = request;
      if (status >= 400 || READS.test(operation)) {
        return;
      }
      const isDeletion = DELETIONS.has(operation);
      if (!isDeletion && !BUCKETS.has(operation) && !RIGHTS.test(operation)) {
        return;
      }
      const actor = caller?.name ?? "anonymous";
      const bucket = address?.bucket ?? "";
      const key = address?.key === undefined || address.key === "" ? "" : `/${address.key}`;
      const entry: AuditEntry = {
        action: operation,
        actor,
        target: `${bucket}${key}`.slice(0, MAX_TARGET),
        ip: addressOf({ message, headers: message.headers }),
        ...(actor === rootUser && { details: { administrator: true } }),
      };
      if (!isDeletion) {
        note(entry);
        return;
      }
      const kind = `${operation}\n${actor}\n${bucket}`;
      const counted = deletions.get(kind);
      if (counted === undefined) {
        deletions.set(kind, { entry, requests: 1 });
      } else {
        counted.requests += 1;
      }
      timer ??= setTimeout(flush, countMs).unref();
      if (deletions.size >= MAX_COUNTED) {
        flush();
      }
    },
    close: flush,
  };
}
