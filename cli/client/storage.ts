import { Agent as PlainAgent } from "node:http";
import { Agent as SecureAgent } from "node:https";

import { S3Client } from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";

import { CommandError } from "../commands/command.ts";
import type { Session } from "./session.ts";

/** An object, or all below a prefix: `s3://ws-eric/scenes/a.tif`. */
export interface StorePlace {
  readonly bucket: string;
  readonly key: string;
}

/** Undefined for what is a path of this machine. @throws {CommandError} for an address without a bucket */
export function parsePlace(text: string): StorePlace | undefined {
  if (!text.startsWith("s3://")) {
    return undefined;
  }
  const [bucket = "", ...key] = text.slice("s3://".length).split("/");
  if (bucket === "") {
    throw new CommandError(`${text} names no bucket; write s3://BUCKET/KEY`, 2);
  }
  return { bucket, key: key.join("/") };
}

interface WorkspaceDetails {
  readonly name: string;
  readonly storage?: {
    readonly credentials?: {
      readonly bucketname: string;
      readonly access: string;
      readonly secret: string;
      readonly endpoint: string;
      readonly region: string;
    };
  };
}

/**
 * A client for the bucket of one of the user's workspaces, with that workspace's keys.
 * @throws {CommandError} when no workspace of the user has the bucket
 */
export async function openBucket(session: Session, bucket: string): Promise<S3Client> {
  const address = `${session.address("workspace-api")}/workspaces`;
  const answer = (await (await session.request(address)).json()) as {
    readonly workspaces: readonly { readonly name: string }[];
  };
  const listed = answer.workspaces;
  // A bucket has its workspace's name, unless an operator chose otherwise.
  for (const { name } of listed.toSorted((a, b) => Number(b.name === bucket) - Number(a.name === bucket))) {
    const details = (await (
      await session.request(`${address}/${encodeURIComponent(name)}`)
    ).json()) as WorkspaceDetails;
    const keys = details.storage?.credentials;
    if (keys?.bucketname === bucket) {
      const connection = session.platform.connection;
      return new S3Client({
        endpoint: keys.endpoint,
        region: keys.region,
        forcePathStyle: true,
        credentials: { accessKeyId: keys.access, secretAccessKey: keys.secret },
        requestHandler: new NodeHttpHandler({
          httpAgent: new PlainAgent({ keepAlive: true, lookup: connection.lookup }),
          httpsAgent: new SecureAgent({ keepAlive: true, ...connection }),
        }),
      });
    }
  }
  const names = listed.map(({ name }) => name).join(", ");
  throw new CommandError(
    `none of your workspaces has the bucket "${bucket}"${names === "" ? "; you have none" : `; your workspaces: ${names}`}`,
  );
}
