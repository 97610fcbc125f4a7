import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { sendXml } from "../protocol/request.ts";
import { childrenOf, parseXml, textOf } from "../protocol/xml.ts";
import { type Operation, bucketOf } from "./operation.ts";

/** Deletes up to 1,000 keys, each judged by itself, all in one transaction. */
export const deleteObjects: Operation = {
  name: "DeleteObjects",
  action: "",
  handle: async (context) => {
    const { store, request, authorize } = context;
    const bucket = bucketOf(context);
    const document = parseXml((await readDocument(request, 4 << 20)).toString(), "Delete");
    const quiet = textOf(document, "Quiet") === "true";
    const objects = childrenOf(document, "Object").map((object) => ({
      key: textOf(object, "Key") ?? "",
      version: textOf(object, "VersionId"),
    }));
    if (objects.length === 0 || objects.length > 1000 || objects.some(({ key }) => key === "")) {
      throw new S3Error("MalformedXML");
    }
    const failed: { Key: string; VersionId: string | undefined; Code: string; Message: string }[] = [];
    const deleted = await store.ballast.whileFull(() =>
      store.index.mutate(() =>
        objects.flatMap(({ key, version }) => {
          try {
            authorize(version === undefined ? "s3:DeleteObject" : "s3:DeleteObjectVersion", bucket.name, key);
            const result = store.versions.remove(bucket.id, key, version);
            const marker = bucket.versioning !== "" && result?.marker === true;
            return [
              {
                Key: key,
                VersionId: version,
                ...(marker && { DeleteMarker: true, DeleteMarkerVersionId: result.version }),
              },
            ];
          } catch (error) {
            if (!(error instanceof S3Error)) {
              throw error;
            }
            failed.push({ Key: key, VersionId: version, Code: error.code, Message: error.message });
            return [];
          }
        }),
      ),
    );
    sendXml(request, "DeleteResult", { Deleted: quiet ? [] : deleted, Error: failed });
    store.garbage.nudge();
  },
};
