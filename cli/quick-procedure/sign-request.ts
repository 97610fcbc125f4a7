import { createHash, createHmac } from "node:crypto";

import { SignatureV4 } from "@smithy/signature-v4";

interface ObjectStoreKeys {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

/** Headers that make a request to the object store the keys' owner's, by AWS Signature Version 4 as `curl --aws-sigv4` does. */
export async function signRequest(
  method: string,
  url: URL,
  { accessKey, secretKey, region }: ObjectStoreKeys,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    region,
    service: "s3",
    sha256: Sha256,
    uriEscapePath: false,
  });
  const { headers } = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    headers: { host: url.host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
  });
  return headers;
}

/** The hash that the signer asks for; with a secret it is an HMAC. */
class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", toBytes(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(toBytes(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error("a hash is used once");
  }
}

function toBytes(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === "string") {
    return Buffer.from(data);
  }
  return data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
