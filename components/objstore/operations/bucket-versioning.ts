import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { send, sendXml } from "../protocol/request.ts";
import { parseXml, textOf } from "../protocol/xml.ts";
import { type Operation, bucketOf } from "./operation.ts";

export const getBucketVersioning: Operation = {
  name: "GetBucketVersioning",
  action: "s3:GetBucketVersioning",
  handle: (context) => {
    const { versioning } = bucketOf(context);
    sendXml(context.request, "VersioningConfiguration", { Status: versioning === "" ? undefined : versioning });
  },
};

export const putBucketVersioning: Operation = {
  name: "PutBucketVersioning",
  action: "s3:PutBucketVersioning",
  handle: async (context) => {
    const document = parseXml((await readDocument(context.request, 64 << 10)).toString(), "VersioningConfiguration");
    const status = textOf(document, "Status");
    if (textOf(document, "MfaDelete") === "Enabled") {
      throw new S3Error("NotImplemented", "MfaDelete is not supported.");
    }
    if (status !== "Enabled" && status !== "Suspended") {
      throw new S3Error("IllegalVersioningConfigurationException");
    }
    const bucket = bucketOf(context);
    if (status === "Suspended" && bucket.object_lock !== null) {
      throw new S3Error(
        "InvalidBucketState",
        "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.",
      );
    }
    await context.store.buckets.set(bucket.name, "versioning", status);
    send(context.request, 200);
  },
};
