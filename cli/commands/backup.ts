import { createWriteStream, renameSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import packageJson from "../../package.json" with { type: "json" };
import { type BackupHeader, writeBackup } from "../backup/format.ts";
import type { Plan } from "../platform/plan.ts";
import { exportCluster } from "../targets/embedded/export-cluster.ts";
import { holdApply } from "../targets/embedded/hold-apply.ts";
import { clusterPaths } from "../targets/embedded/state/paths.ts";
import { formatBytes } from "../view/bytes.ts";
import { CommandError, type Command } from "./command.ts";
import { DEFAULT_CLUSTER, openEmbeddedTarget, readDeployedPlan } from "./open-target.ts";

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
    const target = openEmbeddedTarget(name, env);
    const paths = clusterPaths(name, env);
    const createdAt = new Date().toISOString();
    const file = resolve(values.output ?? `swath-${name}-${createdAt.replace(/\..*|[-:]/g, "")}.tar.zst`);
    const release = await holdApply(paths.id, () =>
      stderr.write(`an apply of cluster "${name}" is at work; waiting for it to end ...\n`),
    );
    try {
      const plan = await readDeployedPlan(target);
      if ((await target.listPods()).length === 0) {
        throw new CommandError(
          `nothing runs on the ${target.title}; a backup is made of a running deployment: bin/swath start`,
        );
      }
      const { domain } = plan.settings;
      const header = { version: packageJson.version, cluster: name, domain, createdAt, ...listContents(plan) };
      await writeWhole(file, (unfinished) =>
        writeBackup(createWriteStream(unfinished, { mode: 0o600, flush: true }), header, (archive) =>
          exportCluster(paths, plan, archive),
        ),
      );
      stdout.write(
        `wrote ${file} (${formatBytes(statSync(file).size)}): settings, secrets, keys and the volumes ${header.volumes.join(", ")}\n`,
      );
      for (const { what, because } of header.leftOut) {
        stdout.write(`not in it: ${what}; ${because}\n`);
      }
      stdout.write(
        `Whoever has this file has every secret of the deployment: keep it where nobody else can read it.\n`,
      );
      return 0;
    } finally {
      release();
    }
  },
};

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
