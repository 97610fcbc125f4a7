import { notifyFailed } from "@swath/ui";

import { sign } from "../s3/sign.ts";

/** Lets the browser save an object as a file of its name. */
export async function download(bucket: string, key: string, version?: string): Promise<void> {
  try {
    const url = await sign({
      method: "GET",
      bucket,
      key,
      query: {
        "response-content-disposition": toDisposition(key.slice(key.lastIndexOf("/") + 1)),
        ...(version !== undefined && { versionId: version }),
      },
    });
    const link = document.createElement("a");
    link.href = url;
    link.download = "";
    link.click();
  } catch (error) {
    notifyFailed(`${key} was not downloaded`, error);
  }
}

/** RFC 6266: a name in ASCII for old programs, the name itself for others. */
function toDisposition(name: string): string {
  const ascii = name.replace(/[^ !#-&(-[\]-~]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
