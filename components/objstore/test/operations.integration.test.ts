import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { OPERATIONS } from "../operations/table.ts";
import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

type Command = new (input: object) => Parameters<s3.S3Client["send"]>[0];

let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;
const Bucket = "every-operation";

before(async () => {
  store = await startObjstore({ OBJSTORE_ENCRYPTION_KEYS: "one:a-key-of-the-tests" });
  client = createS3Client(store, { maxAttempts: 1 });
});
after(async () => {
  client.destroy();
  await store.stop();
});

/** The table of the reference: what is said of each operation, by its name. */
function readReference(): ReadonlyMap<string, string> {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/reference/s3-operations.md"), "utf8");
  return new Map(
    text
      .split("\n")
      .map((line) => /^\| (.+?) +\| (.+?) +\|$/.exec(line))
      .flatMap((row) =>
        row === null ? [] : (row[1] ?? "").split(/[,:] /).map((name) => [name, row[2] ?? ""] as const),
      )
      .filter(([name]) => /^[A-Z][A-Za-z0-9]+$/.test(name) && name !== "Operation"),
  );
}

/** Every operation of the SDK's model. */
const MODEL = Object.entries(s3)
  .filter(([name, value]) => /^[A-Z]\w+Command$/.test(name) && typeof value === "function")
  .map(([name, value]) => [name.slice(0, -"Command".length), value as unknown as Command] as const);

/** Members that operations want; each takes those it knows. */
const INPUT = {
  Bucket,
  Key: "key",
  UploadId: "no-such-upload",
  PartNumber: 1,
  Id: "id",
  AnnotationName: "note",
  CopySource: `${Bucket}/key`,
  RenameSource: "/key",
  RequestRoute: "route",
  RequestToken: "token",
  Body: "text",
  AnnotationPayload: "text",
  ObjectAttributes: ["ETag"],
  Delete: { Objects: [{ Key: "nothing" }] },
  MultipartUpload: { Parts: [{ PartNumber: 1, ETag: "x" }] },
  Tagging: { TagSet: [{ Key: "a", Value: "b" }] },
  VersioningConfiguration: { Status: "Enabled" },
  Policy: JSON.stringify({
    Statement: [
      { Effect: "Allow", Principal: { AWS: "*" }, Action: "s3:GetObject", Resource: `arn:aws:s3:::${Bucket}/*` },
    ],
  }),
  CORSConfiguration: { CORSRules: [{ AllowedMethods: ["GET"], AllowedOrigins: ["*"] }] },
  LifecycleConfiguration: { Rules: [{ Status: "Enabled", Filter: { Prefix: "x" }, Expiration: { Days: 1 } }] },
  PublicAccessBlockConfiguration: { BlockPublicAcls: true },
  OwnershipControls: { Rules: [{ ObjectOwnership: "BucketOwnerEnforced" }] },
  ACL: "private",
  ServerSideEncryptionConfiguration: { Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }] },
  AccelerateConfiguration: { Status: "Enabled" },
  AnalyticsConfiguration: { Id: "id", StorageClassAnalysis: {} },
  IntelligentTieringConfiguration: {
    Id: "id",
    Status: "Enabled",
    Tierings: [{ Days: 90, AccessTier: "ARCHIVE_ACCESS" }],
  },
  InventoryConfiguration: {
    Id: "id",
    IsEnabled: true,
    IncludedObjectVersions: "All",
    Schedule: { Frequency: "Daily" },
    Destination: { S3BucketDestination: { Bucket: "arn:aws:s3:::x", Format: "CSV" } },
  },
  BucketLoggingStatus: {},
  MetricsConfiguration: { Id: "id" },
  NotificationConfiguration: {},
  ReplicationConfiguration: { Role: "r", Rules: [] },
  RequestPaymentConfiguration: { Payer: "Requester" },
  WebsiteConfiguration: { IndexDocument: { Suffix: "index.html" } },
  ObjectLockConfiguration: { ObjectLockEnabled: "Enabled" },
  LegalHold: { Status: "ON" },
  Retention: { Mode: "GOVERNANCE", RetainUntilDate: new Date(4e12) },
  RestoreRequest: { Days: 1 },
  Expression: "select 1",
  ExpressionType: "SQL",
  InputSerialization: { CSV: {} },
  OutputSerialization: { CSV: {} },
  AbacStatus: { Status: "Enabled" },
  MetadataConfiguration: { JournalTableConfiguration: { RecordExpiration: { Expiration: "DISABLED" } } },
  MetadataTableConfiguration: { S3TablesDestination: { TableBucketArn: "arn:x", TableName: "t" } },
  InventoryTableConfiguration: { ConfigurationState: "ENABLED" },
  JournalTableConfiguration: { RecordExpiration: { Expiration: "DISABLED" } },
  AnnotationTableConfiguration: { ConfigurationState: "ENABLED" },
  ObjectEncryption: { SSES3: {} },
};

/** Not for a store of this kind: the SDK refuses to send them here, or sends them somewhere else. */
const ELSEWHERE = new Set(["WriteGetObjectResponse"]);

async function call(Operation: Command): Promise<string> {
  try {
    await client.send(new Operation({ ...INPUT }));
    return "success";
  } catch (error) {
    return (error as Error).name;
  }
}

async function prepare(): Promise<void> {
  await client.send(new s3.CreateBucketCommand({ Bucket })).catch(() => {});
  await client.send(new s3.PutObjectCommand({ Bucket, Key: "key", Body: "precious" }));
}

test("the reference names every operation of the SDK's model, and no other", () => {
  const named = readReference();
  const model = MODEL.map(([name]) => name);
  assert.ok(model.length > 100);
  assert.deepEqual(
    model.filter((name) => !named.has(name)),
    [],
    "missing in docs/reference/s3-operations.md",
  );
  assert.deepEqual(
    [...named.keys()].filter((name) => !model.includes(name) && name !== "AssumeRoleWithWebIdentity"),
    [],
    "named in docs/reference/s3-operations.md, unknown to the SDK",
  );
});

test("every operation does what the reference says: it is there, or it answers NotImplemented and changes nothing", async (t) => {
  const named = readReference();
  for (const [name, Operation] of MODEL) {
    await t.test(name, async () => {
      await prepare();
      const outcome = await call(Operation);
      if ((named.get(name) ?? "").startsWith("501")) {
        assert.ok(outcome === "NotImplemented" || ELSEWHERE.has(name), `${name}: ${outcome}`);
        const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key: "key" }));
        assert.equal(await Body?.transformToString(), "precious", `${name} changed an object`);
      } else {
        assert.ok(
          !["NotImplemented", "InternalError", "MethodNotAllowed", "TypeError", "MalformedXML"].includes(outcome),
          `${name}: ${outcome}`,
        );
      }
    });
  }
});

test("every operation of the dispatch table is one of the model or of forms", () => {
  const model = new Set(MODEL.map(([name]) => name));
  for (const { name } of Object.values(OPERATIONS)) {
    assert.ok(model.has(name) || name === "PostObject" || name === "PutAcl", name);
  }
});
