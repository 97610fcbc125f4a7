import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { checkEncryptionConfiguration } from "../protocol/encryption.ts";
import { send, sendXml } from "../protocol/request.ts";
import { parseXml, textOf } from "../protocol/xml.ts";
import { type Operation, bucketOf } from "./operation.ts";
import { readTagSet, toTagSet } from "./object-tagging.ts";

// Who pays, bucket tags and the public access block.

const PAYERS = ["BucketOwner", "Requester"];

/** Nobody pays here: what was chosen is kept for those who ask. */
export const getBucketRequestPayment: Operation = {
  name: "GetBucketRequestPayment",
  action: "s3:GetBucketRequestPayment",
  handle: (context) =>
    sendXml(context.request, "RequestPaymentConfiguration", { Payer: bucketOf(context).payer ?? "BucketOwner" }),
};

export const putBucketRequestPayment: Operation = {
  name: "PutBucketRequestPayment",
  action: "s3:PutBucketRequestPayment",
  handle: async (context) => {
    const text = (await readDocument(context.request, 64 << 10)).toString();
    const payer = textOf(parseXml(text, "RequestPaymentConfiguration"), "Payer");
    if (payer === undefined || !PAYERS.includes(payer)) {
      throw new S3Error("MalformedXML");
    }
    await context.store.buckets.set(bucketOf(context).name, "payer", payer);
    send(context.request, 200);
  },
};

export const getBucketEncryption: Operation = {
  name: "GetBucketEncryption",
  action: "s3:GetEncryptionConfiguration",
  handle: (context) => {
    const { encryption } = bucketOf(context);
    if (encryption === null) {
      throw new S3Error("ServerSideEncryptionConfigurationNotFoundError");
    }
    send(context.request, 200, encryption, "application/xml");
  },
};

export const putBucketEncryption: Operation = {
  name: "PutBucketEncryption",
  action: "s3:PutEncryptionConfiguration",
  handle: async (context) => {
    const text = (await readDocument(context.request, 64 << 10)).toString();
    checkEncryptionConfiguration(text);
    if (context.keyring.isEmpty) {
      throw new S3Error("NotImplemented", "This deployment has no keys: encryption needs OBJSTORE_ENCRYPTION_KEYS.");
    }
    await context.store.buckets.set(bucketOf(context).name, "encryption", text);
    send(context.request, 200);
  },
};

export const deleteBucketEncryption: Operation = {
  name: "DeleteBucketEncryption",
  action: "s3:PutEncryptionConfiguration",
  handle: async (context) => {
    await context.store.buckets.set(bucketOf(context).name, "encryption", null);
    send(context.request, 204);
  },
};

export const getBucketTagging: Operation = {
  name: "GetBucketTagging",
  action: "s3:GetBucketTagging",
  handle: (context) => {
    const { tags } = bucketOf(context);
    if (tags === null) {
      throw new S3Error("NoSuchTagSet");
    }
    sendXml(context.request, "Tagging", toTagSet(JSON.parse(tags) as Record<string, string>));
  },
};

export const putBucketTagging: Operation = {
  name: "PutBucketTagging",
  action: "s3:PutBucketTagging",
  handle: async (context) => {
    const tags = readTagSet(parseXml((await readDocument(context.request, 64 << 10)).toString(), "Tagging"), 50);
    await context.store.buckets.set(bucketOf(context).name, "tags", JSON.stringify(tags));
    send(context.request, 204);
  },
};

export const deleteBucketTagging: Operation = {
  name: "DeleteBucketTagging",
  action: "s3:PutBucketTagging",
  handle: async (context) => {
    await context.store.buckets.set(bucketOf(context).name, "tags", null);
    send(context.request, 204);
  },
};

const BLOCKS = ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"];

export const getPublicAccessBlock: Operation = {
  name: "GetPublicAccessBlock",
  action: "s3:GetBucketPublicAccessBlock",
  handle: (context) => {
    const { access_block: block } = bucketOf(context);
    if (block === null) {
      throw new S3Error("NoSuchPublicAccessBlockConfiguration");
    }
    sendXml(context.request, "PublicAccessBlockConfiguration", JSON.parse(block) as Record<string, boolean>);
  },
};

export const putPublicAccessBlock: Operation = {
  name: "PutPublicAccessBlock",
  action: "s3:PutBucketPublicAccessBlock",
  handle: async (context) => {
    const document = parseXml(
      (await readDocument(context.request, 64 << 10)).toString(),
      "PublicAccessBlockConfiguration",
    );
    const block = Object.fromEntries(BLOCKS.map((name) => [name, textOf(document, name)?.toLowerCase() === "true"]));
    await context.store.buckets.set(bucketOf(context).name, "access_block", JSON.stringify(block));
    send(context.request, 200);
  },
};

export const deletePublicAccessBlock: Operation = {
  name: "DeletePublicAccessBlock",
  action: "s3:PutBucketPublicAccessBlock",
  handle: async (context) => {
    await context.store.buckets.set(bucketOf(context).name, "access_block", null);
    send(context.request, 204);
  },
};
