import { createS3Signer, toObjectUrl } from "@swath/s3";
import { parseLargeNamed } from "@swath/xml";
import { fetch } from "undici";

import { createAddressedAgent } from "./addressed-agent.ts";

interface StoreOptions {
  readonly url: string;
  readonly address?: string | undefined;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
}

interface ListPage {
  /** One alone is no array. */
  readonly Contents?: ListedPicture | readonly ListedPicture[];
  readonly NextContinuationToken?: string;
}
interface ListedPicture {
  readonly Key: string;
}
const LISTING = { ignoreAttributes: true, keepSpace: true, controlReferences: true };

/** The bucket of pictures, to list and remove them. Its host may be one that no DNS knows. */
export function createAddressedStore({ url, address, region, accessKeyId, secretAccessKey, bucket }: StoreOptions) {
  const agent = createAddressedAgent(address);
  const signer = createS3Signer({ accessKeyId, secretAccessKey, region });
  const call = async (method: "GET" | "DELETE", object: { key?: string; query?: Record<string, string> }) => {
    const target = toObjectUrl({ endpoint: url, bucket, ...object });
    return fetch(target, { method, headers: await signer.sign({ method, url: target }), dispatcher: agent });
  };

  return {
    /** Names of all pictures, or of those of a layer. */
    list: async (layer: string | undefined): Promise<readonly string[]> => {
      const prefix = layer === undefined ? "" : `${encodeURIComponent(layer)}/`;
      const names: string[] = [];
      for (let token: string | undefined = ""; token !== undefined;) {
        const query = { "list-type": "2", prefix, ...(token !== "" && { "continuation-token": token }) };
        const response = await call("GET", { query });
        const text = await response.text();
        if (response.status === 404) {
          return [];
        }
        if (!response.ok) {
          throw new Error(`the storage answered with status ${response.status}`);
        }
        const page = (await parseLargeNamed(text, LISTING)).value as ListPage;
        names.push(...[page.Contents ?? []].flat().map(({ Key }) => Key));
        token = page.NextContinuationToken;
      }
      return names;
    },
    remove: async (name: string): Promise<void> => {
      const response = await call("DELETE", { key: name });
      await response.text();
      if (!response.ok && response.status !== 404) {
        throw new Error(`the storage refused to remove a picture with status ${response.status}`);
      }
    },
    close: () => agent.close(),
  };
}
