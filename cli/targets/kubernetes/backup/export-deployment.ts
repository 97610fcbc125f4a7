import { type ArchiveWriter, readEntries } from "@swath/archive";
import type { EnvValue, Volume, Workload } from "@swath/manifest";

import type { Plan } from "../../../platform/plan.ts";
import type { Connection } from "../api/connection.ts";
import { runInPod } from "../exec/run-in-pod.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { findReadyPod } from "../pods/find-ready-pod.ts";
import { plainText, serviceAddress } from "../render/environment.ts";
import { readGeneratedSecrets, readSecret } from "../state/generated-secrets.ts";
import { PLAN_ENTRY, SECRETS_ENTRY } from "./entries.ts";

type Program = Extract<Volume["backup"], { kind: "program" }>;

/**
 * Adds a running deployment to a backup: its plan and generated secrets, then the volumes in the order of deployment. Each is
 * packed by its component's own program, run in the pod that owns the volume. The database comes before what it refers to, so that
 * everything its rows name is there.
 * @throws {KubernetesError} when a pod is not ready or a program fails, with what it said
 */
export async function exportDeployment(connection: Connection, plan: Plan, archive: ArchiveWriter): Promise<void> {
  await archive.addText(PLAN_ENTRY, JSON.stringify(plan));
  await archive.addText(SECRETS_ENTRY, JSON.stringify(Object.fromEntries(await readGeneratedSecrets(connection))));
  for (const volume of plan.volumes) {
    if (volume.backup.kind === "program") {
      await exportVolume(volume, volume.backup, { connection, plan, archive });
    }
  }
}

interface ExportContext {
  readonly connection: Connection;
  readonly plan: Plan;
  readonly archive: ArchiveWriter;
}

async function exportVolume({ namespace, name }: Volume, program: Program, context: ExportContext): Promise<void> {
  const { connection, plan, archive } = context;
  const owner = plan.workloads.find(
    (workload) => workload.namespace === namespace && workload.mounts?.some(({ volume }) => volume === name),
  );
  const pod = owner && (await findReadyPod(connection, plan.settings.clusterName, owner));
  if (owner === undefined || pod === undefined) {
    throw new KubernetesError(`no pod of ${owner?.name ?? name} is ready, so its volume cannot be read`);
  }
  const settings = await resolveSettings(program, owner, context);
  const output = await runInPod(connection, {
    namespace,
    pod: pod.metadata.name,
    container: owner.name,
    command: ["swath", "backup", program.component, program.entry],
    input: oneLine(settings),
  });
  try {
    for await (const entry of readEntries(output)) {
      await archive.addEntry(entry, `volumes/${namespace}/${name}/${entry.name}`);
    }
  } catch (cause) {
    throw new KubernetesError(`the volume ${namespace}/${name} could not be backed up: ${(cause as Error).message}`, {
      cause,
    });
  }
}

async function* oneLine(settings: Readonly<Record<string, string>>): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(settings)}\n`);
}

/** The program's settings, with the secrets in them. */
async function resolveSettings(
  program: Program,
  owner: Workload,
  { connection, plan }: ExportContext,
): Promise<Readonly<Record<string, string>>> {
  const resolve = async (value: EnvValue): Promise<string> => {
    if (typeof value === "object" && "kind" in value) {
      return readSecret(connection, value);
    }
    return typeof value === "object" && "database" in value
      ? resolveDatabase(connection, plan, owner)
      : plainText(plan, owner, value);
  };
  const entries = Object.entries(program.env).map(async ([name, value]) => [name, await resolve(value)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function resolveDatabase(connection: Connection, plan: Plan, owner: Workload): Promise<string> {
  const { database } = plan;
  if (database.kind === "external") {
    return readSecret(connection, database.url);
  }
  const port = owner.ports?.find(({ name }) => name === "postgres")?.number;
  // No policy lets the server's own pod out to itself by the name of its service.
  const isServer = owner.name === database.workload;
  const host = isServer ? `127.0.0.1:${port}` : serviceAddress(plan, database.workload, "postgres");
  const password = encodeURIComponent(await readSecret(connection, database.password));
  return `postgresql://${database.user}:${password}@${host}/${database.name}`;
}
