import { hash } from "node:crypto";
import { Agent } from "node:http";

import type { S3Client } from "@aws-sdk/client-s3";
import { Problem, parsePeerUrl } from "@swath/service";

import { fetchJson } from "../services/fetch-json.ts";
import type { Service } from "../services/registry.ts";

/** A workspace's bucket, opened with the keys of who asks. */
export interface Bucket {
  readonly client: S3Client;
  readonly name: string;
}

export interface WorkspaceStorage {
  /**
   * Opens the bucket of a workspace with the keys that the workspace API gives this caller: readers get keys that only read.
   * @throws {Problem} what the workspace API answers; 409 while there is no storage
   */
  readonly open: (workspace: string, token: string, clientAddress: string) => Promise<Bucket>;
  /** Forgets the keys, which were not accepted. */
  readonly forget: (workspace: string, token: string) => void;
  readonly close: () => void;
}

interface Credentials {
  readonly bucketname: string;
  readonly access: string;
  readonly secret: string;
  readonly region: string;
}

/** Milliseconds that keys are used before they are asked for again: a map reads a scene in hundreds of small requests. */
const KEEP = 20_000;
const MAX_KEPT = 1000;

export function createWorkspaceStorage(workspaceApi: Service, endpoint: string): WorkspaceStorage {
  const kept = new Map<string, { readonly bucket: Promise<Bucket>; readonly until: number }>();
  const { origin, prefix, socketPath } = parsePeerUrl(endpoint);
  // `socketPath` reaches net.connect through the agent; its type does not say so.
  const options = { keepAlive: true, ...(socketPath !== undefined && { socketPath }) } as ConstructorParameters<
    typeof Agent
  >[0];
  const agent = new Agent(options);
  const keyOf = (workspace: string, token: string) => `${workspace} ${hash("sha256", token)}`;

  const open = async (workspace: string, token: string, clientAddress: string): Promise<Bucket> => {
    const { bucketname, access, secret, region } = await readCredentials(workspaceApi, workspace, token, clientAddress);
    // Loaded when somebody looks at files: it is a third of what the process would take.
    const { S3Client: Client } = await import("@aws-sdk/client-s3");
    const client = new Client({
      endpoint: `${origin}${prefix}`,
      region,
      forcePathStyle: true,
      maxAttempts: 2,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      credentials: { accessKeyId: access, secretAccessKey: secret },
      requestHandler: { connectionTimeout: 5000, ...(origin.startsWith("http:") && { httpAgent: agent }) },
    });
    return { client, name: bucketname };
  };

  return {
    open: (workspace, token, clientAddress) => {
      const key = keyOf(workspace, token);
      const now = Date.now();
      const known = kept.get(key);
      if (known !== undefined && known.until > now) {
        return known.bucket;
      }
      for (const [old, { until }] of kept) {
        if (until > now && kept.size < MAX_KEPT) {
          break;
        }
        kept.delete(old);
      }
      const bucket = open(workspace, token, clientAddress);
      kept.delete(key);
      kept.set(key, { bucket, until: now + KEEP });
      bucket.catch(() => kept.delete(key));
      return bucket;
    },
    forget: (workspace, token) => kept.delete(keyOf(workspace, token)),
    close: () => agent.destroy(),
  };
}

async function readCredentials(
  service: Service,
  workspace: string,
  token: string,
  clientAddress: string,
): Promise<Credentials> {
  const { status, body: record } = await fetchJson<{ storage?: { credentials?: Credentials } | null }>({
    service,
    path: `/workspaces/${encodeURIComponent(workspace)}`,
    token,
    clientAddress,
  });
  if (record === undefined) {
    const why = status === 404 || status === 403 ? "There is no such workspace for you." : "";
    throw new Problem(status >= 500 ? 502 : status, why || `The workspace API answers ${status}.`);
  }
  const credentials = record.storage?.credentials;
  if (credentials === undefined) {
    throw new Problem(409, `Workspace ${workspace} has no storage yet; it is being made.`, { title: "Not ready" });
  }
  return credentials;
}
