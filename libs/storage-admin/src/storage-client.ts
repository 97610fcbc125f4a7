import { S3Client } from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { parsePeerUrl } from "@swath/service";
import { Agent, type AgentOptions } from "node:http";

export interface StorageOptions {
  /** Address inside the deployment, as `createPeer` takes it, or public. */
  readonly url: string;
  readonly region: string;
  readonly user: string;
  readonly password: string;
}

/** Lends an S3 client to `work`. */
export async function withStorageClient<T>(
  { url, region, user, password }: StorageOptions,
  work: (client: S3Client) => Promise<T>,
): Promise<T> {
  const { origin, prefix, socketPath } = parsePeerUrl(url);
  // Node's agent hands its options on to every connection; its types do not say that a socket may be among them.
  const agent = new Agent({ keepAlive: true, socketPath } as AgentOptions);
  const client = new S3Client({
    endpoint: `${origin}${prefix}`,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: user, secretAccessKey: password },
    ...(socketPath !== undefined && { requestHandler: new NodeHttpHandler({ httpAgent: agent }) }),
  });
  try {
    return await work(client);
  } finally {
    client.destroy();
    agent.destroy();
  }
}
