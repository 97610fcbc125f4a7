import type { BucketOutputs, StorageKey } from "../steps/bucket.ts";
import type { RegistryOutputs } from "../steps/registry.ts";
import { lastBeat } from "../store/reconcilers.ts";
import { type StepRecord, listRepairs, listSteps } from "../store/steps.ts";
import type { Role } from "../store/tables.ts";
import type { Workspace } from "../store/workspaces.ts";
import type { ApiContext } from "./context.ts";

/** Seconds after which a silent reconciler counts as gone: three of its heartbeats. */
const SILENCE = 30;

/** The record of a workspace as its members see it, credentials by role. */
export async function toRecord({ db, storage }: ApiContext, workspace: Workspace, role: Role) {
  const [steps, repairs] = await Promise.all([listSteps(db, workspace.name), listRepairs(db, workspace.name)]);
  const bucket = steps.find(({ name }) => name === "bucket")?.outputs as BucketOutputs | null | undefined;
  const key = role === "reader" ? bucket?.readerKey : bucket?.key;
  const credentials =
    storage === undefined || bucket === undefined || bucket === null
      ? undefined
      : toCredentials(bucket, bucket.keyless === true ? NO_KEY : key, storage);
  const status = statusOf(workspace);
  const reason = await reasonOf(db, workspace, steps);
  return {
    name: workspace.name,
    status,
    ...(reason !== undefined && { status_reason: reason }),
    owner: workspace.ownerName ?? workspace.owner,
    role,
    members: workspace.members.map((member) => ({ username: member.username, role: member.role })),
    endpoints: [] as readonly { id: string; url: string }[],
    storage:
      credentials === undefined
        ? null
        : {
            credentials,
            quota_in_mb: bucket?.keyless === true ? null : workspace.quotaMb,
            usage: bucket?.usage ?? null,
            ...(bucket?.keyless === true && { note: KEYLESS }),
          },
    container_registry: role === "reader" ? null : toImages(steps),
    steps: steps.map(({ name, state, attempts, error, updatedAt }) => ({
      name,
      state,
      ...(state === "failed" && { attempts, error }),
      updated_at: updatedAt.toISOString(),
    })),
    repairs: repairs.map(({ step, what, at }) => ({ step, what, at: at.toISOString() })),
    created_at: workspace.createdAt.toISOString(),
    checked_at: workspace.checkedAt?.toISOString() ?? null,
  };
}

/** What programs of the workspace log in to the image registry with. */
function toImages(steps: readonly StepRecord[]) {
  const images = steps.find(({ name }) => name === "registry")?.outputs as RegistryOutputs | null | undefined;
  return images?.robot === undefined
    ? null
    : { url: images.host, project: images.project, username: images.robot.name, password: images.robot.secret };
}

const NO_KEY = { access: "", secret: "" };
const KEYLESS =
  "This platform uses an existing object storage. The bucket is made there and results go into it; keys and quotas are given by those who run that storage.";

/** Storage credentials in the shape that existing clients read; every value is a text. Undefined without a key. */
export function toCredentials(
  { bucketname, projectid = "" }: Pick<BucketOutputs, "bucketname" | "projectid">,
  key: Pick<StorageKey, "access" | "secret"> | undefined,
  { endpoint, region }: { readonly endpoint: string; readonly region: string },
) {
  return key && { bucketname, access: key.access, secret: key.secret, projectid, endpoint, region };
}

/** `provisioning` until everything has been there once. */
export function statusOf({ phase, observedGeneration }: Workspace): "provisioning" | "ready" | "deleting" {
  return phase === "deleting" ? "deleting" : observedGeneration === 0 ? "provisioning" : "ready";
}

async function reasonOf(
  db: ApiContext["db"],
  { generation, observedGeneration }: Workspace,
  steps: readonly StepRecord[],
): Promise<string | undefined> {
  if (generation === observedGeneration) {
    return undefined;
  }
  const beat = await lastBeat(db);
  if (beat === undefined || Date.now() - beat.getTime() > SILENCE * 1000) {
    return "No reconciler is at work, so nothing is provisioned; see what stops it: bin/swath pods, bin/swath logs workspace-reconciler.";
  }
  const failed = steps.find(({ state }) => state === "failed");
  return failed && `Step ${failed.name} failed ${failed.attempts} times and is tried again: ${failed.error ?? ""}`;
}
