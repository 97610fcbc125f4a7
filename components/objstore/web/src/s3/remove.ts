import { RequestError } from "@swath/ui";

import { send } from "./send.ts";
import { escapeXml } from "./escape-xml.ts";
import { childrenOf, parseXml, textOf } from "./xml.ts";

interface Removed {
  readonly key: string;
  readonly version?: string;
}

const BATCH = 1000;

/**
 * Deletes objects, or versions of them, a thousand at a time.
 * @throws {RequestError} naming the first that was refused; what came before it is gone
 */
export async function removeAll(
  bucket: string,
  objects: readonly Removed[],
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  for (let from = 0; from < objects.length; from += BATCH) {
    const batch = objects.slice(from, from + BATCH);
    const items = batch.map(
      ({ key, version }) =>
        `<Object><Key>${escapeXml(key)}</Key>${version === undefined ? "" : `<VersionId>${escapeXml(version)}</VersionId>`}</Object>`,
    );
    const body = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${items.join("")}</Delete>`;
    const response = await send({ method: "POST", bucket, query: { delete: "" } }, { body });
    const refused = childrenOf(parseXml(await response.text()), "Error");
    if (refused[0] !== undefined) {
      const more = refused.length > 1 ? `, and ${refused.length - 1} more` : "";
      const detail = `${textOf(refused[0], "Key")}: ${textOf(refused[0], "Message")}${more}`;
      throw new RequestError(403, { title: "Not everything was deleted", detail });
    }
    onProgress(from + batch.length);
  }
}
