import assert from "node:assert/strict";
import { test } from "node:test";

import type { AuditEntry } from "@swath/postgres/audit";

import type { RequestEntry } from "../service.ts";
import { createAuditTrail } from "./audit-trail.ts";

function record(...requests: readonly Partial<RequestEntry>[]): readonly AuditEntry[] {
  const noted: AuditEntry[] = [];
  const trail = createAuditTrail({ note: (entry) => noted.push(entry), rootUser: "root" });
  for (const request of requests) {
    trail.add({
      status: 200,
      caller: { name: "eric", authType: "AuthHeader" },
      address: { bucket: "ws-eric", key: "" },
      message: { headers: { "x-forwarded-for": "192.0.2.7" }, socket: {} },
      ...request,
    } as RequestEntry);
  }
  trail.close();
  return noted;
}

const actionsOf = (...operations: readonly string[]) =>
  record(...operations.map((operation) => ({ operation }))).map(({ action }) => action);

test("changes of rights, keys and buckets are noted; reads and writes of objects are not", () => {
  const noted = ["PutBucketPolicy", "DeleteBucketPolicy", "PutBucketAcl", "PutObjectAcl", "DeleteAccessKey"];
  const more = ["CreateUser", "CreateAccessKey", "PutUserPolicy", "DeleteBucket", "PutObjectLegalHold"];
  assert.deepEqual(actionsOf(...noted, ...more), [...noted, ...more]);
  assert.deepEqual(
    actionsOf("GetBucketPolicy", "ListUsers", "PutObject", "UploadPart", "CopyObject", "HeadBucket"),
    [],
  );
});

test("names who did it to what, from where, and whether it was the administrator", () => {
  const [entry] = record({ operation: "PutBucketPolicy", caller: { name: "root", authType: "AuthHeader" } });
  assert.deepEqual(entry, {
    action: "PutBucketPolicy",
    actor: "root",
    target: "ws-eric",
    ip: "192.0.2.7",
    details: { administrator: true },
  });
  assert.deepEqual(record({ operation: "PutBucketPolicy", status: 403 }), []);
});

test("deletions of objects are counted by caller and bucket", () => {
  const deletion = (bucket: string, key: string) =>
    ({ operation: "DeleteObject", status: 204, address: { bucket, key } }) as unknown as Partial<RequestEntry>;
  const noted = record(deletion("ws-eric", "a"), deletion("ws-eric", "b"), deletion("ws-bob", "c"));
  assert.deepEqual(
    noted.map(({ target, details }) => [target, details]),
    [
      ["ws-eric/a", { requests: 2 }],
      ["ws-bob/c", { requests: 1 }],
    ],
  );
});
