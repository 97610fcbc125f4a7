import { send } from "./send.ts";
import type { Version } from "./list.ts";

/** Makes an old version the newest again, as a copy: what came after it is kept too. @throws {RequestError} */
export async function restoreVersion(bucket: string, key: string, { id }: Version): Promise<void> {
  const path = key.split("/").map(encodeURIComponent).join("/");
  const headers = { "x-amz-copy-source": `/${bucket}/${path}?versionId=${encodeURIComponent(id)}` };
  await send({ method: "PUT", bucket, key, headers });
}
