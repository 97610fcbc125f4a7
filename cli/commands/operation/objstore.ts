import { spawnSync } from "node:child_process";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { withTemporaryFolder } from "../../client/temporary-folder.ts";
import { clusterPaths } from "../../targets/embedded/state/paths.ts";
import { repositoryRoot } from "../../targets/embedded/launch/code-version.ts";
import { CommandError, type Command } from "../command.ts";
import { DEFAULT_CLUSTER, findClusterAddress, openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { outputOption, wantsJson } from "../output-option.ts";
import { runSnapshot } from "./objstore-snapshot.ts";
import { listUrls } from "./urls.ts";

export const objstoreCommand: Command = {
  name: "objstore",
  summary: "snapshots of the object store, its index, copies of buckets to another S3 service",
  usage: `
Usage: swath objstore snapshot [create | list] [CLUSTER] [-o json]
       swath objstore snapshot restore SNAPSHOT [CLUSTER] [--bucket NAME [--as NAME]] [-o json]
       swath objstore snapshot delete SNAPSHOT [CLUSTER]
       swath objstore rebuild [CLUSTER] [--directory DIR]
       swath objstore migrate [CLUSTER] --to URL [--from URL] [--bucket NAME]... [--region REGION]

  snapshot  makes a snapshot of all buckets while the object store runs, prints its name, or lists all; restore puts one bucket
            or all of them back as they were, and keeps what was there before as buckets of their own; --as restores beside
            the present bucket. Users, keys and roles stay as they are
  rebuild   makes a new index for a volume whose index is lost or damaged: of what can be read of the old one, which stays
            beside it, of the copy of the settings, and of what the content files say of themselves
  migrate   copies buckets with all versions, headers, tags, locks and settings to the S3 service at URL, compares what it
            wrote, and leaves what is there already: run it again after an interruption, and once more when nobody writes

For rebuild the object store must not run (swath stop). DIR is the volume where it is none of an embedded cluster. On
Kubernetes the object store does it itself at its start, with OBJSTORE_REBUILD=true in its environment.

The keys of migrate come from the environment: TARGET_ACCESS_KEY and TARGET_SECRET_KEY, and with --from SOURCE_ACCESS_KEY and
SOURCE_SECRET_KEY; without --from the buckets are those of the deployment. Users, their keys and objects encrypted with keys of
customers are not copied; what is not copied is listed, and the command ends with 1.`,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        directory: { type: "string" },
        to: { type: "string" },
        from: { type: "string" },
        region: { type: "string" },
        bucket: { type: "string", multiple: true },
        as: { type: "string" },
        ...outputOption,
      },
    });
    const [action, cluster = DEFAULT_CLUSTER] = positionals;
    switch (action) {
      case "snapshot": {
        const { bucket = [], as } = values;
        if (bucket.length > 1) {
          throw new CommandError("--bucket can be given once: without it all buckets are restored", 2);
        }
        return runSnapshot(positionals.slice(1), { bucket: bucket[0], as, json: wantsJson(values) }, { env, stdout });
      }
      case "rebuild":
        return rebuild(findVolume(cluster, values.directory, env), env);
      case "migrate":
        return migrate(cluster, values, env);
      default:
        throw new CommandError("what is to be done? swath objstore snapshot, rebuild, or migrate --to URL", 2);
    }
  },
};

/** The object store has its own account where root deployed it: files that are made anew go to the volume's owner. */
function rebuild(directory: string, env: NodeJS.ProcessEnv): number {
  const { uid, gid } = statSync(directory);
  const status = runProgram("rebuild", { ...env, DATA_DIR: directory });
  return process.getuid?.() === 0 && uid !== 0
    ? status || (spawnSync("chown", ["-hR", `${uid}:${gid}`, "--", directory], { stdio: "inherit" }).status ?? 1)
    : status;
}

interface MigrateOptions {
  readonly to?: string;
  readonly from?: string;
  readonly region?: string;
  readonly bucket?: readonly string[];
}

async function migrate(
  cluster: string,
  { to, from, region, bucket = [] }: MigrateOptions,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const missing = ["TARGET", ...(from === undefined ? [] : ["SOURCE"])]
    .flatMap((end) => [`${end}_ACCESS_KEY`, `${end}_SECRET_KEY`])
    .filter((name) => !env[name]);
  if (to === undefined || missing.length > 0) {
    throw new CommandError(
      to === undefined
        ? "--to URL is missing: the S3 service to copy to"
        : `set ${missing.join(", ")} in the environment`,
      2,
    );
  }
  const target = { TARGET_URL: to, ...(region !== undefined && { TARGET_REGION: region }), BUCKETS: bucket.join(",") };
  if (from !== undefined) {
    return runProgram("migrate", { ...env, ...target, SOURCE_URL: from });
  }
  const deployment = openTarget(cluster, env);
  const plan = await readDeployedPlan(deployment);
  const url = listUrls(plan).find(([service]) => service === "objstore")?.[1];
  if (url === undefined) {
    throw new CommandError(`the deployment has no object storage of its own; name one with --from URL`);
  }
  const { variables } = plan.settings;
  const { certificateAuthority, address } = await deployment.readAccess();
  return withTemporaryFolder("migrate", async (folder) => {
    const authority = join(folder, "ca.crt");
    if (certificateAuthority !== undefined) {
      writeFileSync(authority, certificateAuthority);
    }
    return runProgram("migrate", {
      ...env,
      ...target,
      ...(certificateAuthority !== undefined && { NODE_EXTRA_CA_CERTS: authority }),
      SOURCE_URL: url,
      ...(address !== undefined && { SOURCE_ADDRESS: address }),
      SOURCE_REGION: variables.OBJSTORE_REGION,
      SOURCE_ACCESS_KEY: variables.OBJSTORE_ROOT_USER,
      SOURCE_SECRET_KEY: await deployment.readSecret(variables.OBJSTORE_ROOT_PASSWORD),
    });
  });
}

function findVolume(cluster: string, provided: string | undefined, env: NodeJS.ProcessEnv): string {
  if (provided === undefined && findClusterAddress(cluster, env) !== undefined) {
    throw new CommandError(
      `"${cluster}" is on Kubernetes: set OBJSTORE_REBUILD=true in the environment of the workload objstore; it makes the index anew when it starts`,
    );
  }
  const directory =
    provided === undefined ? join(clusterPaths(cluster, env).volumes, "rm", "objstore") : resolve(provided);
  if (!existsSync(directory)) {
    throw new CommandError(`there is no volume ${directory}`);
  }
  return directory;
}

/** A program of the object store, which has dependencies that the tool has not. */
function runProgram(name: "rebuild" | "migrate", env: NodeJS.ProcessEnv): number {
  const { status } = spawnSync(process.execPath, [join(repositoryRoot, `components/objstore/${name}.ts`)], {
    env,
    stdio: "inherit",
  });
  return status ?? 1;
}
