import { createWriteStream, renameSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import type { ArchiveWriter } from "@swath/archive";

import packageJson from "../../../package.json" with { type: "json" };
import { type BackupHeader, writeBackup } from "../../backup/format.ts";
import type { Plan } from "../../platform/plan.ts";
import { exportCluster } from "../../targets/embedded/export-cluster.ts";
import { acquireApplyLock } from "../../targets/embedded/acquire-apply-lock.ts";
import { clusterPaths } from "../../targets/embedded/state/paths.ts";
import type { ClusterAddress } from "../../targets/kubernetes/api/connection.ts";
import { createKubernetesTarget } from "../../targets/kubernetes/kubernetes-target.ts";
import { formatBytes } from "../../view/bytes.ts";
import { CommandError, type Command, type CommandContext } from "../command.ts";
import {
  DEFAULT_CLUSTER,
  findClusterAddress,
  openEmbeddedTarget,
  readDeployedPlan,
} from "../../targets/open-target.ts";
import { printWaiting } from "../print-waiting.ts";

export const backupCommand: Command = {
  name: "backup",
  summary: "write the whole deployment into one file while it runs",
  usage: `
Usage: swath backup [CLUSTER] [-o FILE]

Writes database, objects, settings, secrets and keys into one file (a tar archive compressed with zstd), readable by you
alone, while everything goes on. FILE is swath-CLUSTER-TIME.tar.zst in the current folder when left out.
swath restore makes a deployment from it.`,
  run: async ({ args, env, stdout, stderr }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { output: { type: "string", short: "o" } },
    });
    const name = positionals[0] ?? DEFAULT_CLUSTER;
    const createdAt = new Date().toISOString();
    const file = resolve(values.output ?? `swath-${name}-${createdAt.replace(/\..*|[-:]/g, "")}.tar.zst`);
    const source = await openSource(name, { args, env, stdout, stderr });
    try {
      const { plan, fill } = await source.prepare();
      const header: Omit<BackupHeader, "format"> = {
        version: packageJson.version,
        ...source.header,
        cluster: name,
        domain: plan.settings.domain,
        createdAt,
        ...listContents(plan),
      };
      await writeWhole(file, (unfinished) =>
        writeBackup(createWriteStream(unfinished, { mode: 0o600, flush: true }), header, fill),
      );
      stdout.write(
        `wrote ${file} (${formatBytes(statSync(file).size)}): settings, secrets, keys and the volumes ${header.volumes.join(", ")}\n`,
      );
      for (const { what, because } of header.leftOut) {
        stdout.write(`not included: ${what}; ${because}\n`);
      }
      stdout.write(
        `Whoever has this file has every secret of the deployment: keep it where nobody else can read it.\n`,
      );
      return 0;
    } finally {
      await source.release();
    }
  },
};

/** A running deployment that nobody else changes until it is released. */
interface Source {
  readonly header: Pick<BackupHeader, "target">;
  readonly prepare: () => Promise<{ readonly plan: Plan; readonly fill: (archive: ArchiveWriter) => Promise<void> }>;
  readonly release: () => Promise<void> | void;
}

function openSource(name: string, context: CommandContext): Promise<Source> {
  const address = findClusterAddress(name, context.env);
  return address === undefined ? openEmbeddedSource(name, context) : openKubernetesSource(name, address, context);
}

async function openEmbeddedSource(name: string, { env, stderr }: CommandContext): Promise<Source> {
  const target = openEmbeddedTarget(name, env);
  const paths = clusterPaths(name, env);
  const release = await acquireApplyLock(paths.id, () =>
    stderr.write(`an apply of cluster "${name}" is at work; waiting for it to end ...\n`),
  );
  return {
    header: {},
    prepare: async () => {
      const plan = await readDeployedPlan(target);
      if ((await target.listPods()).length === 0) {
        throw new CommandError(
          `nothing runs on the ${target.title}; a backup is made of a running deployment: bin/swath start`,
        );
      }
      return { plan, fill: (archive) => exportCluster(paths, plan, archive) };
    },
    release,
  };
}

async function openKubernetesSource(
  clusterName: string,
  address: ClusterAddress,
  { env, stderr }: CommandContext,
): Promise<Source> {
  const [{ connect }, { acquireLease }, { exportDeployment }] = await Promise.all([
    import("../../targets/kubernetes/api/connection.ts"),
    import("../../targets/kubernetes/lease/acquire-lease.ts"),
    import("../../targets/kubernetes/backup/export-deployment.ts"),
  ]);
  const connection = await connect(address);
  const target = createKubernetesTarget({ clusterName, address: { ...address, context: connection.context }, env });
  const lease = await acquireLease({ connection, onWait: printWaiting(stderr) });
  return {
    header: { target: "kubernetes" },
    prepare: async () => {
      const plan = await readDeployedPlan(target);
      return { plan, fill: (archive) => exportDeployment(connection, plan, archive) };
    },
    release: async () => lease?.release(),
  };
}

/** A file appears under its name only when it is whole. */
async function writeWhole(file: string, write: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${file}.writing`;
  try {
    await write(unfinished);
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw new CommandError(`no backup was written: ${(error as Error).message}`);
  }
}

function listContents({ volumes, database, settings }: Plan): Pick<BackupHeader, "volumes" | "leftOut"> {
  const nameOf = ({ namespace, name }: Plan["volumes"][number]) => `${namespace}/${name}`;
  return {
    volumes: volumes.filter(({ backup }) => backup.kind === "program").map(nameOf),
    leftOut: [
      ...volumes.flatMap((volume) =>
        volume.backup.kind === "nothing"
          ? [{ what: `the volume ${nameOf(volume)}`, because: volume.backup.because }]
          : [],
      ),
      ...(database.kind === "external"
        ? [
            {
              what: "the database (DATABASE_URL)",
              because: "it is not part of the deployment; back it up with its own tools at the same time",
            },
          ]
        : []),
      ...(settings.variables.OBJSTORE_ENDPOINT === undefined
        ? []
        : [
            {
              what: "objects (OBJSTORE_ENDPOINT)",
              because: "the store is not part of the deployment; back it up with its own tools",
            },
          ]),
    ],
  };
}
