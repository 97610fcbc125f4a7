import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { clusterPaths } from "../targets/embedded/state/paths.ts";
import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { CommandError, type Command } from "./command.ts";
import { DEFAULT_CLUSTER, findClusterAddress } from "./open-target.ts";

export const objstoreCommand: Command = {
  name: "objstore",
  summary: "mend the object store's index",
  usage: `
Usage: swath objstore rebuild [CLUSTER] [--directory DIR]

  rebuild   makes a new index for a volume whose index is lost or damaged: of what can be read of the old one, which stays
            beside it, of the copy of the settings, and of what the content files say of themselves

The object store must not run (swath stop). DIR is the volume where it is none of an embedded cluster. On Kubernetes the
object store does it itself at its start, with OBJSTORE_REBUILD=true in its environment.`,
  run: ({ args, env }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { directory: { type: "string" } },
    });
    const [action, cluster = DEFAULT_CLUSTER] = positionals;
    if (action !== "rebuild") {
      throw new CommandError("what is to be done? swath objstore rebuild [CLUSTER] [--directory DIR]", 2);
    }
    if (values.directory === undefined && findClusterAddress(cluster, env) !== undefined) {
      throw new CommandError(
        `"${cluster}" is on Kubernetes: set OBJSTORE_REBUILD=true in the environment of the workload objstore; it makes the index anew when it starts`,
      );
    }
    const directory =
      values.directory === undefined
        ? join(clusterPaths(cluster, env).volumes, "rm", "objstore")
        : resolve(values.directory);
    if (!existsSync(directory)) {
      throw new CommandError(`there is no volume ${directory}`);
    }
    const { status } = spawnSync(process.execPath, [join(repositoryRoot, "components/objstore/rebuild.ts")], {
      env: { ...env, DATA_DIR: directory },
      stdio: "inherit",
    });
    return Promise.resolve(status ?? 1);
  },
};
