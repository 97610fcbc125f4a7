import { setTimeout as sleep } from "node:timers/promises";

import { createDeploymentFetch } from "../../targets/deployment-fetch.ts";
import { formatBytes } from "../../view/bytes.ts";
import { formatTable } from "../../view/table.ts";
import { type CommandContext, CommandError } from "../command.ts";
import { openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { listUrls } from "./urls.ts";

/** How often the object store is asked whether it is done, in milliseconds. */
const POLL_MS = 500;

interface Job {
  readonly id: number;
  readonly state: "running" | "done" | "failed";
  readonly error: string | null;
  readonly result: unknown;
}

interface ListedSnapshot {
  readonly id: string;
  readonly created: string;
  readonly isScheduled: boolean;
  readonly buckets: number;
  readonly objects: number;
  readonly bytes: number;
}

interface Listing {
  readonly schedule: string | null;
  readonly job: Job | null;
  readonly snapshots: readonly ListedSnapshot[];
}

interface Restored {
  readonly bucket: string;
  readonly as: string;
  readonly versions: number;
  readonly before?: string;
  readonly lost: readonly string[];
}

interface SnapshotOptions {
  readonly bucket?: string | undefined;
  readonly as?: string | undefined;
  readonly json: boolean;
}

/** Calls the administration API of the object store as its root user. @throws {CommandError} with what it answers */
type Call = <T>(method: string, path: string, body?: object) => Promise<T>;

/**
 * `swath objstore snapshot ACTION`: makes, lists, restores and deletes snapshots of a deployed object store.
 * @returns 1 when versions could not be restored because their content is lost
 */
export async function runSnapshot(
  [action = "create", ...rest]: readonly string[],
  options: SnapshotOptions,
  { env, stdout }: Pick<CommandContext, "env" | "stdout">,
): Promise<number> {
  const takesId = action === "restore" || action === "delete";
  const [id, cluster] = takesId ? rest : [undefined, rest[0]];
  if (takesId && id === undefined) {
    throw new CommandError(`which one? swath objstore snapshot ${action} SNAPSHOT; swath objstore snapshot list`, 2);
  }
  if (options.as !== undefined && options.bucket === undefined) {
    throw new CommandError("--as needs --bucket: one bucket is restored under another name", 2);
  }
  switch (action) {
    case "create": {
      const made = await perform<{ id: string }>(await connect(cluster, env), "/api/snapshots");
      stdout.write(options.json ? `${JSON.stringify(made)}\n` : `${made.id}\n`);
      return 0;
    }
    case "list": {
      const listing = await (await connect(cluster, env))<Listing>("GET", "/api/snapshots");
      stdout.write(options.json ? `${JSON.stringify(listing)}\n` : describeListing(listing));
      return 0;
    }
    case "delete":
      await (
        await connect(cluster, env)
      )("DELETE", `/api/snapshots/${encodeURIComponent(id ?? "")}`);
      return 0;
    case "restore": {
      const { bucket, as } = options;
      const path = `/api/snapshots/${encodeURIComponent(id ?? "")}/restore`;
      const restored = await perform<readonly Restored[]>(await connect(cluster, env), path, {
        ...(bucket !== undefined && { bucket }),
        ...(as !== undefined && { as }),
      });
      stdout.write(options.json ? `${JSON.stringify(restored)}\n` : restored.map(describeRestored).join(""));
      return restored.some(({ lost }) => lost.length > 0) ? 1 : 0;
    }
    default:
      throw new CommandError(`"${action}" is unknown; allowed: create, list, restore, delete`, 2);
  }
}

/** Begins work and waits for its end. */
async function perform<T>(call: Call, path: string, body?: object): Promise<T> {
  const { id } = await call<Job>("POST", path, body);
  for (;;) {
    const { job } = await call<Listing>("GET", "/api/snapshots");
    if (job?.id !== id) {
      throw new CommandError("the object store was started again meanwhile; look at: swath objstore snapshot list");
    }
    if (job.state === "failed") {
      throw new CommandError(`the object store could not do it: ${job.error}; its log says more: swath logs objstore`);
    }
    if (job.state === "done") {
      return job.result as T;
    }
    await sleep(POLL_MS);
  }
}

async function connect(cluster: string | undefined, env: NodeJS.ProcessEnv): Promise<Call> {
  const target = openTarget(cluster, env);
  const { settings, ...plan } = await readDeployedPlan(target);
  const url = listUrls({ settings, ...plan }).find(([service]) => service === "objstore-console")?.[1];
  if (url === undefined) {
    throw new CommandError("the deployment has no object storage of its own: make snapshots with the tools of yours");
  }
  const { OBJSTORE_ROOT_USER: user, OBJSTORE_ROOT_PASSWORD } = settings.variables;
  const password = await target.readSecret(OBJSTORE_ROOT_PASSWORD);
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const fetch = createDeploymentFetch(settings.domain, await target.readAccess());
  return async <T>(method: string, path: string, body?: object) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new CommandError(`the object store answers ${response.status}: ${readDetail(text)}`);
    }
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };
}

/** What problem details say, or the answer as it is where an ingress gave it. */
function readDetail(text: string): string {
  try {
    const { detail, title } = JSON.parse(text) as { detail?: string; title?: string };
    return detail ?? title ?? text;
  } catch {
    return text.slice(0, 200);
  }
}

function describeListing({ schedule, snapshots }: Listing): string {
  const rows = snapshots.map(({ id, isScheduled, buckets, objects, bytes }) => [
    id,
    isScheduled ? "scheduled" : "by hand",
    String(buckets),
    String(objects),
    formatBytes(bytes),
  ]);
  return rows.length === 0
    ? `no snapshots; schedule: ${schedule ?? "none (OBJSTORE_SNAPSHOTS)"}\n`
    : formatTable([["SNAPSHOT", "MADE", "BUCKETS", "OBJECTS", "BYTES"], ...rows]);
}

function describeRestored({ bucket, as, versions, before, lost }: Restored): string {
  const name = as === bucket ? bucket : `${bucket} as ${as}`;
  const kept = before === undefined ? "" : `; what was there before is in ${before}`;
  const missing = lost.map((each) => `  content lost: ${each}\n`).join("");
  return `${name}: ${versions} versions${kept}\n${missing}`;
}
