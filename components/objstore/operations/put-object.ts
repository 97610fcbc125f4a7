import { nameOf } from "../access/principal.ts";
import { toChecksumHeaders } from "../protocol/checksums.ts";
import { receiveBody } from "../protocol/body.ts";
import { toWriteCheck } from "../protocol/conditions.ts";
import { send } from "../protocol/request.ts";
import { type Operation, bucketOf, keyOf, readObjectHeaders, readTagHeader, setVersionHeader } from "./operation.ts";

export const putObject: Operation = {
  name: "PutObject",
  action: "s3:PutObject",
  handle: async (context) => {
    const { store, request, principal } = context;
    const bucket = bucketOf(context);
    const headers = readObjectHeaders(request);
    const tags = readTagHeader(request);
    const check = toWriteCheck(request.message.headers);
    check(store.versions.findLatest(bucket.id, keyOf(context)));
    const body = await receiveBody(request, {
      files: store.files,
      checkRoom: (bytes) => context.checkRoom(bucket, bytes),
    });
    try {
      const content =
        "file" in body
          ? ({ kind: "file", file: body.file } as const)
          : ({ kind: "inline", data: body.data, md5: body.md5 } as const);
      const { size, md5: etag, checksum } = body;
      const added = { key: keyOf(context), size, etag, owner: nameOf(principal), headers, tags, checksum, content };
      const version = await store.versions.put(bucket, added, check);
      setVersionHeader(context, bucket, version.version);
      request.response.setHeader("etag", `"${etag}"`);
      for (const [name, value] of Object.entries(toChecksumHeaders(version.checksum))) {
        request.response.setHeader(name, value);
      }
      send(request, 200);
      store.garbage.nudge();
    } catch (error) {
      if ("file" in body) {
        await store.files.remove(body.file.id);
      }
      throw error;
    } finally {
      if ("file" in body) {
        body.settle();
      }
    }
  },
};
