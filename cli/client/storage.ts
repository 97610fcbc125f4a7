import { Agent as PlainAgent } from "node:http";
import { Agent as SecureAgent } from "node:https";

import { CreateBucketCommand, HeadBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";

import { CommandError } from "../commands/command.ts";
import { openTarget, readDeployedPlan } from "../targets/open-target.ts";
import { listUrls } from "../commands/operation/urls.ts";
import { createDeploymentConnection } from "../targets/deployment-fetch.ts";
import type { PlatformConnection } from "./connect.ts";
import type { Session } from "./session.ts";
import { listWorkspaces, readWorkspace } from "./workspaces.ts";

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

/**
 * A client for the bucket of one of the user's workspaces, with that workspace's keys.
 * @throws {CommandError} when no workspace of the user has the bucket
 */
export async function openBucket(session: Session, bucket: string): Promise<S3Client> {
  if (session.readStorage !== undefined) {
    return openHubStorage(session, session.readStorage);
  }
  const listed = await listWorkspaces(session);
  // A bucket has its workspace's name, unless an operator chose otherwise.
  for (const name of listed.toSorted((a, b) => Number(b === bucket) - Number(a === bucket))) {
    const keys = (await readWorkspace(session, name)).storage?.credentials;
    if (keys?.bucketname === bucket) {
      return new S3Client({
        endpoint: keys.endpoint,
        region: keys.region,
        forcePathStyle: true,
        credentials: { accessKeyId: keys.access, secretAccessKey: keys.secret },
        requestHandler: toHandler(session.platform.connection),
      });
    }
  }
  const names = listed.join(", ");
  throw new CommandError(
    `none of your workspaces has the bucket "${bucket}"${names === "" ? "; you have none" : `; your workspaces: ${names}`}`,
  );
}

/** In a server of the hub: every bucket that the user may read or write, with keys that last as long as the user's login. */
async function openHubStorage(
  { platform }: Session,
  readStorage: NonNullable<Session["readStorage"]>,
): Promise<S3Client> {
  const readKeys = async () => {
    const {
      endpoint,
      region,
      access_key: access,
      secret_key: secret,
      session_token: token,
      expires,
    } = (await readStorage()) ?? {};
    if (endpoint === undefined || access === undefined || secret === undefined) {
      throw new CommandError(
        "the platform's object storage has no keys for you here; log in to the hub again, or try again in a moment",
      );
    }
    return { endpoint, region, access, secret, token, expires };
  };
  const { endpoint, region = "" } = await readKeys();
  return new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: async () => {
      const { access, secret, token, expires } = await readKeys();
      return {
        accessKeyId: access,
        secretAccessKey: secret,
        ...(token !== undefined && { sessionToken: token }),
        ...(expires !== undefined && { expiration: new Date(expires) }),
      };
    },
    requestHandler: toHandler(platform.connection),
  });
}

/**
 * A client for all buckets of the object store of a cluster of this machine, with the store's own keys.
 * @param bucket is made when it is missing
 * @throws {CommandError} when there is no such cluster, or it has no object store
 */
export async function openStore(
  env: NodeJS.ProcessEnv,
  cluster: string | undefined,
  bucket: string | undefined,
): Promise<S3Client> {
  const target = openTarget(cluster, env);
  const plan = await readDeployedPlan(target);
  const endpoint = listUrls(plan).find(([service]) => service === "objstore")?.[1];
  if (endpoint === undefined) {
    throw new CommandError(`the ${target.title} has no object store of its own`);
  }
  const { OBJSTORE_ROOT_USER: accessKeyId, OBJSTORE_ROOT_PASSWORD, OBJSTORE_REGION: region } = plan.settings.variables;
  const s3 = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey: await target.readSecret(OBJSTORE_ROOT_PASSWORD) },
    requestHandler: toHandler(createDeploymentConnection(plan.settings.domain, await target.readAccess())),
  });
  if (bucket !== undefined) {
    await s3.send(new HeadBucketCommand({ Bucket: bucket })).catch(async (error: unknown) => {
      if (!(error instanceof Error && error.name === "NotFound")) {
        throw error;
      }
      await s3.send(new CreateBucketCommand({ Bucket: bucket }));
    });
  }
  return s3;
}

const toHandler = (connection: PlatformConnection): NodeHttpHandler =>
  "proxies" in connection
    ? new NodeHttpHandler({
        httpAgent: new PlainAgent({ keepAlive: true, proxyEnv: connection.proxies }),
        httpsAgent: new SecureAgent({ keepAlive: true, proxyEnv: connection.proxies }),
      })
    : new NodeHttpHandler({
        httpAgent: new PlainAgent({ keepAlive: true, lookup: connection.lookup }),
        httpsAgent: new SecureAgent({ keepAlive: true, ...connection }),
      });
