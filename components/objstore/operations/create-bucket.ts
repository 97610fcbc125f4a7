import { nameOf } from "../access/principal.ts";
import { S3Error } from "../errors.ts";
import { isBucketName } from "../protocol/address.ts";
import { readDocument } from "../protocol/body.ts";
import { header, send } from "../protocol/request.ts";
import { parseXml, textOf } from "../protocol/xml.ts";
import { type Operation, refuseUnsupported } from "./operation.ts";

export const createBucket: Operation = {
  name: "CreateBucket",
  action: "s3:CreateBucket",
  handle: async ({ store, request, principal, region }) => {
    const name = request.address.bucket ?? "";
    if (!isBucketName(name)) {
      throw new S3Error("InvalidBucketName", undefined, { details: { BucketName: name } });
    }
    refuseUnsupported(request);
    if (header(request, "x-amz-bucket-object-lock-enabled") === "true") {
      throw new S3Error("NotImplemented", "Object Lock is not supported.");
    }
    const body = (await readDocument(request, 64 << 10)).toString();
    const wanted = body === "" ? undefined : textOf(parseXml(body, "CreateBucketConfiguration"), "LocationConstraint");
    if (wanted !== undefined && wanted !== "" && wanted !== region) {
      throw new S3Error("InvalidArgument", `The region of this object store is ${region}, not ${wanted}.`);
    }
    await store.buckets.create(name, nameOf(principal), store.now());
    request.response.setHeader("location", `/${name}`);
    send(request, 200);
  },
};
