// Copies buckets with their settings to another S3 service: see `swath objstore migrate`.
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type LookupFunction, isIP } from "node:net";

import { S3Client } from "@aws-sdk/client-s3";
import { defineSettings, loadSettings } from "@swath/service";

import { migrateBucket } from "./migrate/migrate-bucket.ts";
import { listBuckets } from "./migrate/settings.ts";

const settings = loadSettings(
  defineSettings({
    SOURCE_URL: { kind: "url", description: "S3 endpoint that is copied from" },
    SOURCE_ACCESS_KEY: { kind: "string", description: "Key that may read all buckets there" },
    SOURCE_SECRET_KEY: { kind: "string", secret: true, description: "Its secret" },
    SOURCE_ADDRESS: {
      kind: "string",
      optional: true,
      description: "IP address that the host of SOURCE_URL has, where no DNS knows it",
    },
    SOURCE_REGION: { kind: "string", default: "us-east-1", description: "Region that its signatures name" },
    TARGET_URL: { kind: "url", description: "S3 endpoint that is copied to" },
    TARGET_ACCESS_KEY: { kind: "string", description: "Key that may make buckets there" },
    TARGET_SECRET_KEY: { kind: "string", secret: true, description: "Its secret" },
    TARGET_REGION: { kind: "string", default: "us-east-1", description: "Region that its signatures name" },
    BUCKETS: { kind: "string", default: "", description: "Names of buckets, separated by commas; none: all" },
    CONCURRENCY: { kind: "integer", default: 8, minimum: 1, maximum: 64, description: "Keys that are copied at once" },
  }),
  process.env,
);

const connect = (endpoint: string, region: string, accessKeyId: string, secretAccessKey: string, address?: string) =>
  new S3Client({
    ...(address !== undefined && { requestHandler: toHandler(address) }),
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    // Streams are compared by their ETags; checksums of their own would frame them, which not every service reads.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
const source = connect(
  settings.SOURCE_URL,
  settings.SOURCE_REGION,
  settings.SOURCE_ACCESS_KEY,
  settings.SOURCE_SECRET_KEY,
  settings.SOURCE_ADDRESS,
);
const target = connect(
  settings.TARGET_URL,
  settings.TARGET_REGION,
  settings.TARGET_ACCESS_KEY,
  settings.TARGET_SECRET_KEY,
);
const named = settings.BUCKETS.split(",").filter((name) => name !== "");
let problems = 0;
for (const bucket of named.length > 0 ? named : await listBuckets(source)) {
  const report = await migrateBucket(bucket, {
    source,
    target,
    region: settings.TARGET_REGION,
    concurrency: settings.CONCURRENCY,
  });
  process.stdout.write(
    `${bucket}: ${report.copied} versions copied, ${report.there} were there, ${report.problems.length} problems\n`,
  );
  for (const problem of report.problems) {
    process.stdout.write(`  ${problem}\n`);
  }
  problems += report.problems.length;
}
source.destroy();
target.destroy();
process.exitCode = problems > 0 ? 1 : 0;

/** Connects every name to one address. */
function toHandler(address: string) {
  const family = isIP(address);
  const lookup: LookupFunction = (_name, options, done) =>
    options.all === true ? done(null, [{ address, family }]) : done(null, address, family);
  return { httpAgent: new HttpAgent({ lookup }), httpsAgent: new HttpsAgent({ lookup }) };
}
