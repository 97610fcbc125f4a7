import { readDocument } from "../protocol/body.ts";
import { send, sendXml } from "../protocol/request.ts";
import { type XmlNode, childOf, childrenOf, parseXml, textOf } from "../protocol/xml.ts";
import { type Operation, bucketOf, checkTags, findVersion, setVersionHeader } from "./operation.ts";

export const getObjectTagging: Operation = {
  name: "GetObjectTagging",
  action: "s3:GetObjectTagging",
  versionAction: "s3:GetObjectVersionTagging",
  handle: (context) => {
    const version = findVersion(context);
    setVersionHeader(context, bucketOf(context), version.version);
    const tags = version.tags === null ? {} : (JSON.parse(version.tags) as Record<string, string>);
    sendXml(context.request, "Tagging", toTagSet(tags));
  },
};

export const putObjectTagging: Operation = {
  name: "PutObjectTagging",
  action: "s3:PutObjectTagging",
  versionAction: "s3:PutObjectVersionTagging",
  handle: async (context) => {
    const tags = readTagSet(parseXml((await readDocument(context.request, 64 << 10)).toString(), "Tagging"));
    const version = findVersion(context);
    await context.store.changes.setTags(bucketOf(context), version, tags);
    setVersionHeader(context, bucketOf(context), version.version);
    send(context.request, 200);
  },
};

export const deleteObjectTagging: Operation = {
  name: "DeleteObjectTagging",
  action: "s3:DeleteObjectTagging",
  versionAction: "s3:DeleteObjectVersionTagging",
  handle: async (context) => {
    const version = findVersion(context);
    await context.store.changes.setTags(bucketOf(context), version, undefined);
    setVersionHeader(context, bucketOf(context), version.version);
    send(context.request, 204);
  },
};

export function toTagSet(tags: Readonly<Record<string, string>>) {
  return {
    TagSet: {
      Tag: Object.entries(tags)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([Key, Value]) => ({ Key, Value })),
    },
  };
}

export function readTagSet(document: XmlNode, limit = 10): Record<string, string> {
  const tags = childrenOf(childOf(document, "TagSet"), "Tag");
  return checkTags(
    tags.map((tag) => [textOf(tag, "Key") ?? "", textOf(tag, "Value") ?? ""] as const),
    limit,
  );
}
