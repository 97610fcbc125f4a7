import { Hash } from "@smithy/hash-node";
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
    sha256: Hash.bind(null, "sha256"),
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
