import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { type S3Request, send, sendXml } from "../protocol/request.ts";
import { type XmlNode, childOf, childrenOf, escapeXml, parseXml, textOf } from "../protocol/xml.ts";
import { type Operation, bucketOf, findVersion, refuseUnsupported } from "./operation.ts";
import { readTagSet, toTagSet } from "./object-tagging.ts";

// What is the same for every bucket of this store (ownership, ACL, payer), and bucket tags and the public access block.

/** The owner has full control; there are no other ACLs (as with BucketOwnerEnforced). */
export const getBucketAcl: Operation = {
  name: "GetBucketAcl",
  action: "s3:GetBucketAcl",
  handle: (context) => sendAcl(context.request, bucketOf(context).owner),
};

export const getObjectAcl: Operation = {
  name: "GetObjectAcl",
  action: "s3:GetObjectAcl",
  handle: (context) => sendAcl(context.request, findVersion(context).owner),
};

function sendAcl(request: S3Request, owner: string): void {
  // Written as text: clients look for the type of the grantee, which is an attribute.
  const id = `<ID>${escapeXml(owner)}</ID><DisplayName>${escapeXml(owner)}</DisplayName>`;
  const grantee = `<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">${id}</Grantee>`;
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<AccessControlPolicy xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Owner>${id}</Owner><AccessControlList><Grant>${grantee}<Permission>FULL_CONTROL</Permission></Grant></AccessControlList></AccessControlPolicy>`;
  send(request, 200, xml, "application/xml");
}

/** Accepts the ACL there is and refuses any other. */
export const putAcl: Operation = {
  name: "PutAcl",
  action: "s3:PutBucketAcl",
  handle: async (context) => {
    refuseUnsupported(context.request);
    const body = (await readDocument(context.request, 64 << 10)).toString();
    if (body !== "") {
      const owner = context.request.address.key === undefined ? bucketOf(context).owner : findVersion(context).owner;
      const grants = childrenOf(childOf(parseXml(body, "AccessControlPolicy"), "AccessControlList"), "Grant");
      const isOwners = (grant: XmlNode) =>
        textOf(grant, "Permission") === "FULL_CONTROL" && textOf(childOf(grant, "Grantee"), "ID") === owner;
      if (!grants.every(isOwners)) {
        throw new S3Error("AccessControlListNotSupported");
      }
    }
    send(context.request, 200);
  },
};

export const getBucketOwnershipControls: Operation = {
  name: "GetBucketOwnershipControls",
  action: "s3:GetBucketOwnershipControls",
  handle: ({ request }) => sendXml(request, "OwnershipControls", { Rule: { ObjectOwnership: "BucketOwnerEnforced" } }),
};

export const getBucketRequestPayment: Operation = {
  name: "GetBucketRequestPayment",
  action: "s3:GetBucketRequestPayment",
  handle: ({ request }) => sendXml(request, "RequestPaymentConfiguration", { Payer: "BucketOwner" }),
};

export const getBucketEncryption: Operation = {
  name: "GetBucketEncryption",
  action: "s3:GetEncryptionConfiguration",
  handle: () => {
    throw new S3Error("ServerSideEncryptionConfigurationNotFoundError");
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

export const putBucketOwnershipControls: Operation = {
  name: "PutBucketOwnershipControls",
  action: "s3:PutBucketOwnershipControls",
  handle: async ({ request }) => {
    const document = parseXml((await readDocument(request, 64 << 10)).toString(), "OwnershipControls");
    if (
      childrenOf(document, "Rule").length !== 1 ||
      textOf(childOf(document, "Rule"), "ObjectOwnership") !== "BucketOwnerEnforced"
    ) {
      throw new S3Error("InvalidArgument", "ObjectOwnership is always BucketOwnerEnforced here.");
    }
    send(request, 200);
  },
};
