import { listAllVersions } from "../s3/list.ts";
import { removeAll } from "../s3/remove.ts";
import { send } from "../s3/send.ts";
import { childrenOf, parseXml, textOf } from "../s3/xml.ts";

/** Deletes everything that a bucket holds: objects, old versions, marks, unfinished uploads. @throws {RequestError} */
export async function emptyBucket(bucket: string, onProgress: (done: number) => void): Promise<void> {
  let before = 0;
  for await (const page of listAllVersions(bucket, "")) {
    if (page.length > 0) {
      await removeAll(bucket, page);
      before += page.length;
      onProgress(before);
    }
  }
  const response = await send({ method: "GET", bucket, query: { uploads: "" } });
  for (const upload of childrenOf(parseXml(await response.text()), "Upload")) {
    const [key = "", uploadId = ""] = [textOf(upload, "Key"), textOf(upload, "UploadId")];
    await send({ method: "DELETE", bucket, key, query: { uploadId } });
  }
}
