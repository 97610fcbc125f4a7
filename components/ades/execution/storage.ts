import { CreateBucketCommand, HeadBucketCommand } from "@aws-sdk/client-s3";
import { type Settings, createPeer } from "@swath/service";

import { join } from "node:path";

import type { settings as definitions } from "../config.ts";
import { toCredentials } from "../bucket-keys/access-key.ts";
import { createS3Client } from "../staging/s3-client.ts";
import type { InternalService, S3Access, S3Endpoint, S3Target } from "../staging/types.ts";

export type AdesSettings = Settings<typeof definitions>;

/** Where a job's inputs, journal and outputs are while it is at work. */
export const jobFolder = ({ DATA_DIR }: AdesSettings, id: string): string => join(DATA_DIR, "jobs", id);

/** Where a user's results go, and which buckets the user's inputs may be in. */
export interface UserStorage {
  readonly target: S3Target;
  readonly access: readonly S3Access[];
}

/** The user has no workspace, or one without storage. */
export class NoWorkspaceError extends Error {
  override readonly name = "NoWorkspaceError";
}

/** Who we are at the storage in one of the user's buckets: results of earlier jobs may lie in another than today's. */
export const toEndpoint = ({ target, access }: UserStorage, bucket: string): S3Endpoint =>
  access.find(({ buckets }) => buckets?.includes(bucket)) ?? target;

/**
 * Finds the storage of a user: the workspace's bucket, or the common one of the object storage, which is made when it is missing.
 * The common one is for users without a workspace: results of the others are where their catalogue and maps can read them.
 * @throws {Error} saying what is missing and what to do
 */
export async function findStorage(settings: AdesSettings, user: string): Promise<UserStorage> {
  const { S3_ENDPOINT: endpoint, S3_REGION: region } = settings;
  if (endpoint === undefined) {
    throw new Error("there is no object storage that results could go to; deploy with REQUIRE_OBJSTORE=true");
  }
  const place = { endpoint, region };
  if (settings.STAGEOUT_TARGET === "workspace") {
    return findWorkspaceStorage(settings, place, user);
  }
  const common = await findCommonStorage(settings, place);
  if (settings.WORKSPACE_URL === undefined) {
    return common;
  }
  const own = await findWorkspaceStorage(settings, place, user).catch((error: unknown) => {
    if (error instanceof NoWorkspaceError) {
      return undefined;
    }
    throw error;
  });
  return own === undefined ? common : { target: own.target, access: [...own.access, ...common.access] };
}

interface Place {
  readonly endpoint: string;
  readonly region: string;
}

async function findWorkspaceStorage(settings: AdesSettings, place: Place, user: string): Promise<UserStorage> {
  const { WORKSPACE_URL: url, WORKSPACE_SECRET: secret } = settings;
  if (url === undefined || secret === undefined) {
    throw new Error(
      "results go to workspaces, and there is no workspace API; deploy it, or set STAGEOUT_TARGET=objstore",
    );
  }
  const peer = createPeer(url);
  try {
    const response = await peer.fetch(`/users/${encodeURIComponent(user)}/storage`, {
      timeout: 10_000,
      headers: { authorization: `Bearer ${secret}` },
    });
    const body = (await response.json()) as {
      detail?: string;
      storage?: { credentials: { bucketname: string; access: string; secret: string } };
    };
    if (!response.ok || body.storage === undefined) {
      const message = body.detail ?? `the workspace API answers ${response.status}`;
      throw [404, 409].includes(response.status)
        ? new NoWorkspaceError(message)
        : Object.assign(new Error(message), { isTemporary: response.status >= 500 || response.status === 429 });
    }
    const { bucketname: bucket, access, secret: secretAccessKey } = body.storage.credentials;
    // Workspaces have no keys of their own in an existing object storage: the platform's are used, for this bucket alone.
    const credentials = access === "" ? readOwnKeys(settings) : { accessKeyId: access, secretAccessKey };
    const target = { ...place, bucket, credentials };
    return { target, access: [{ ...target, buckets: [bucket], isPrivate: true }] };
  } finally {
    await peer.close();
  }
}

/** The platform's own keys of the object storage. */
export function readOwnKeys({ S3_ACCESS_KEY: accessKeyId, S3_SECRET_KEY: secretAccessKey }: AdesSettings) {
  if (secretAccessKey === undefined) {
    throw new Error("S3_ACCESS_KEY and S3_SECRET_KEY, the keys of the object storage, are missing");
  }
  return toCredentials(accessKeyId, secretAccessKey);
}

async function findCommonStorage(settings: AdesSettings, place: Place): Promise<UserStorage> {
  const { STAGEOUT_BUCKET: bucket } = settings;
  const target = { ...place, bucket, credentials: readOwnKeys(settings) };
  const client = createS3Client(target, { connections: 1, stallSeconds: settings.STORAGE_SILENCE_SECONDS });
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket })).catch(async (error: unknown) => {
      if (!(error instanceof Error && error.name === "NotFound")) {
        throw error;
      }
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
    });
  } finally {
    client.destroy();
  }
  return { target, access: [{ ...target, buckets: [bucket], isPrivate: true }] };
}

/** Addresses that packages and inputs may come from. */
export const allowedPrivate = ({ ALLOW_PRIVATE: text }: AdesSettings): readonly string[] =>
  text.split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));

/** Services of the platform that the inputs of a user may come from although they are not at public addresses. */
export function internalServices(settings: AdesSettings, user: string): readonly InternalService[] {
  const { OBJSTORE_PUBLIC_URL, S3_ENDPOINT, CATALOGUE_PUBLIC_URL, CATALOGUE_URL, PLATFORM_DOMAIN } = settings;
  const { CATALOGUE_DELEGATE_URL: peerUrl, CATALOGUE_DELEGATE_SECRET: secret } = settings;
  const services: InternalService[] = [];
  if (OBJSTORE_PUBLIC_URL !== undefined && S3_ENDPOINT !== undefined) {
    services.push({ publicUrl: OBJSTORE_PUBLIC_URL, peerUrl: S3_ENDPOINT });
  }
  if (CATALOGUE_PUBLIC_URL !== undefined && CATALOGUE_URL !== undefined) {
    services.push({
      publicUrl: CATALOGUE_PUBLIC_URL,
      peerUrl: CATALOGUE_URL,
      isCatalogue: true,
      ...(PLATFORM_DOMAIN !== undefined && { workspacesOf: PLATFORM_DOMAIN }),
      ...(peerUrl !== undefined &&
        secret !== undefined && {
          asCaller: {
            peerUrl,
            headers: { authorization: `Bearer ${secret}`, "x-on-behalf-of": encodeURIComponent(user) },
          },
        }),
    });
  }
  return services;
}
