import { randomBytes } from "node:crypto";

import { type S3ErrorCode, S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { parseCors } from "../protocol/cors.ts";
import { nameRules, parseLifecycle } from "../protocol/lifecycle.ts";
import { send } from "../protocol/request.ts";
import { type Operation, bucketOf } from "./operation.ts";

// CORS and lifecycle: documents that are checked when they come and given back as they came.

interface Kind {
  readonly column: "cors" | "lifecycle";
  readonly name: string;
  readonly right: string;
  readonly missing: S3ErrorCode;
  readonly check: (text: string) => unknown;
  /** What is kept of a document that was checked. */
  readonly complete?: (text: string) => string;
}

const cors: Kind = {
  column: "cors",
  name: "BucketCors",
  right: "BucketCORS",
  missing: "NoSuchCORSConfiguration",
  check: parseCors,
};
const lifecycle: Kind = {
  column: "lifecycle",
  name: "BucketLifecycleConfiguration",
  right: "LifecycleConfiguration",
  missing: "NoSuchLifecycleConfiguration",
  check: parseLifecycle,
  complete: (text) => nameRules(text, () => randomBytes(12).toString("hex")),
};

export const getBucketCors = createGet(cors);
export const putBucketCors = createPut(cors);
export const deleteBucketCors = createDelete(cors);
export const getBucketLifecycle = createGet(lifecycle);
export const putBucketLifecycle = createPut(lifecycle);
export const deleteBucketLifecycle = createDelete(lifecycle);

function createGet({ column, name, right, missing }: Kind): Operation {
  return {
    name: `Get${name}`,
    action: `s3:Get${right}`,
    handle: (context) => {
      const text = bucketOf(context)[column];
      if (text === null) {
        throw new S3Error(missing);
      }
      send(context.request, 200, text, "application/xml");
    },
  };
}

function createPut({ column, name, right, check, complete = (text) => text }: Kind): Operation {
  return {
    name: `Put${name}`,
    action: `s3:Put${right}`,
    handle: async (context) => {
      const text = (await readDocument(context.request, 256 << 10)).toString();
      check(text);
      await context.store.buckets.set(bucketOf(context).name, column, complete(text));
      send(context.request, 200);
    },
  };
}

function createDelete({ column, name, right }: Kind): Operation {
  return {
    // The API calls it DeleteBucketLifecycle, and the others …LifecycleConfiguration.
    name: `Delete${name.replace("Configuration", "")}`,
    action: `s3:Put${right}`,
    handle: async (context) => {
      await context.store.buckets.set(bucketOf(context).name, column, null);
      send(context.request, 204);
    },
  };
}
