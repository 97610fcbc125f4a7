import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { toDeleteCheck } from "../protocol/conditions.ts";
import { sendXml } from "../protocol/request.ts";
import { type XmlElement, childrenOf, parseLargeXml, textOf } from "../protocol/xml.ts";
import { cutIntoSteps } from "../store/delete-steps.ts";
import type { Version } from "../store/rows.ts";
import { takeTurns } from "../store/turns.ts";
import { checkUnlocked, mayBypass } from "./object-lock.ts";
import { type Operation, type OperationContext, bucketOf, originOf } from "./operation.ts";

const MAX_OBJECTS = 1000;

interface Requested {
  readonly key: string;
  readonly version: string | undefined;
  readonly etag: string | undefined;
  readonly size: string | undefined;
  readonly modified: string | undefined;
}

type Outcome = XmlElement;

/** Deletes up to 1,000 keys, each judged by itself, in steps that share the batches of the index with others. */
export const deleteObjects: Operation = {
  name: "DeleteObjects",
  action: "",
  handle: async (context) => {
    const { store, request, authorizeSome } = context;
    const bucket = bucketOf(context);
    try {
      authorizeSome("s3:DeleteObject", bucket.name);
    } catch {
      authorizeSome("s3:DeleteObjectVersion", bucket.name);
    }
    const document = await parseLargeXml((await readDocument(request, 4 << 20)).toString(), "Delete");
    const quiet = textOf(document, "Quiet") === "true";
    const named = childrenOf(document, "Object");
    // Before they are read: 4 MiB hold 140,000 of them.
    if (named.length === 0 || named.length > MAX_OBJECTS) {
      throw new S3Error("MalformedXML");
    }
    const objects = named.map((object) => ({
      key: textOf(object, "Key") ?? "",
      version: textOf(object, "VersionId"),
      etag: textOf(object, "ETag"),
      size: textOf(object, "Size"),
      modified: textOf(object, "LastModifiedTime"),
    }));
    if (objects.some(({ key }) => key === "")) {
      throw new S3Error("MalformedXML");
    }
    const steps: Promise<readonly Result[]>[] = [];
    // Where versions are kept, a delete without a version id adds a marker.
    const sizeOf = ({ key, version }: Requested) =>
      version === undefined && bucket.versioning === "Enabled" ? 0 : store.versions.sizeOf(bucket.id, key, version);
    for (const step of cutIntoSteps(objects, sizeOf)) {
      const work = store.reservedSpace.whileFull(() =>
        store.index.mutate(() => step.map((object) => deleteOne(context, object))),
      );
      // Awaited below, with the others.
      work.catch(() => {});
      steps.push(work);
      await takeTurns();
    }
    const results = (await Promise.all(steps)).flat();
    sendXml(request, "DeleteResult", {
      Deleted: quiet ? [] : results.flatMap(({ deleted }) => (deleted === undefined ? [] : [deleted])),
      Error: results.flatMap(({ failed }) => (failed === undefined ? [] : [failed])),
    });
    store.garbage.nudge();
  },
};

interface Result {
  readonly deleted?: Outcome;
  readonly failed?: Outcome;
}

function toConditions({ etag, size, modified }: Requested) {
  return {
    ...(etag !== undefined && { "if-match": etag }),
    ...(size !== undefined && { "x-amz-if-match-size": size }),
    ...(modified !== undefined && { "x-amz-if-match-last-modified-time": modified }),
  };
}

function deleteOne(context: OperationContext, requested: Requested): Result {
  const { key, version } = requested;
  const { store, authorize } = context;
  const bucket = bucketOf(context);
  try {
    authorize(version === undefined ? "s3:DeleteObject" : "s3:DeleteObjectVersion", bucket.name, key, version);
    const conditions = toDeleteCheck(toConditions(requested));
    const bypass = version !== undefined && mayBypass(context, key);
    const check = (current: Version | undefined) => {
      conditions(current);
      if (version !== undefined) {
        checkUnlocked(current, store.now(), bypass);
      }
    };
    const removal = { kind: "ObjectRemoved", origin: originOf(context) } as const;
    const result = store.versions.remove(bucket.id, key, version, check, removal);
    const marker = bucket.versioning !== "" && result?.marker === true;
    return {
      deleted: {
        Key: key,
        VersionId: version,
        ...(marker && { DeleteMarker: true, DeleteMarkerVersionId: result.version }),
      },
    };
  } catch (error) {
    if (!(error instanceof S3Error)) {
      throw error;
    }
    return { failed: { Key: key, VersionId: version, Code: error.code, Message: error.message } };
  }
}
