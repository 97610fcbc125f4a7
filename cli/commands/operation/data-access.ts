import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { withTemporaryFolder } from "../../client/temporary-folder.ts";
import { repositoryRoot } from "../../targets/embedded/launch/code-version.ts";
import { CommandError, type Command } from "../command.ts";
import { DEFAULT_CLUSTER, openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { listUrls } from "./urls.ts";

export const dataAccessCommand: Command = {
  name: "data-access",
  summary: "make tiles of a layer before somebody asks for them, or remove kept ones",
  usage: `
Usage: swath data-access seed [CLUSTER] --layer ID [--style ID] [--zooms 0-8] [--set WebMercatorQuad]
       swath data-access purge [CLUSTER] [--layer ID]

  seed    asks for every tile of a layer (a collection, or an item as COLLECTION__ITEM), so that it is kept; it may be ended and
          run again at any time. Layers that are not public need a token of who may see them in SEED_TOKEN
  purge   removes kept pictures, of one layer or all, from the deployment's object storage. It only frees space: a picture whose
          files have changed is never shown`,
  run: async ({ args, env }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        layer: { type: "string" },
        style: { type: "string" },
        zooms: { type: "string" },
        set: { type: "string" },
      },
    });
    const [action, cluster = DEFAULT_CLUSTER] = positionals;
    if (action !== "seed" && action !== "purge") {
      throw new CommandError("what is to be done? swath data-access seed --layer ID, or swath data-access purge", 2);
    }
    if (action === "seed" && values.layer === undefined) {
      throw new CommandError("--layer ID is missing: the layer whose tiles are made", 2);
    }
    const deployment = openTarget(cluster, env);
    const plan = await readDeployedPlan(deployment);
    const service = action === "seed" ? "data-access" : "objstore";
    const url = listUrls(plan).find(([name]) => name === service)?.[1];
    if (url === undefined) {
      throw new CommandError(`the deployment has no ${service}`);
    }
    const { variables } = plan.settings;
    const { certificateAuthority, address } = await deployment.readAccess();
    const { layer, style, zooms, set } = values;
    const own =
      action === "seed"
        ? {
            SEED_URL: url,
            SEED_LAYER: layer,
            SEED_STYLE: style,
            SEED_ZOOMS: zooms,
            SEED_SET: set,
            SEED_ADDRESS: address,
          }
        : {
            PURGE_URL: url,
            PURGE_LAYER: layer,
            PURGE_ADDRESS: address,
            PURGE_REGION: variables.OBJSTORE_REGION,
            PURGE_ACCESS_KEY: variables.OBJSTORE_ROOT_USER,
            PURGE_SECRET_KEY: await deployment.readSecret(variables.OBJSTORE_ROOT_PASSWORD),
          };
    return withTemporaryFolder("data-access", (folder) => {
      const authority = join(folder, "ca.crt");
      if (certificateAuthority !== undefined) {
        writeFileSync(authority, certificateAuthority);
      }
      return runProgram(action, {
        ...env,
        ...(certificateAuthority !== undefined && { NODE_EXTRA_CA_CERTS: authority }),
        ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
      });
    });
  },
};

/** A program of data access, which has dependencies that the tool has not. */
function runProgram(name: "seed" | "purge", env: NodeJS.ProcessEnv): number {
  const { status } = spawnSync(process.execPath, [join(repositoryRoot, `components/data-access/${name}.ts`)], {
    env,
    stdio: "inherit",
  });
  return status ?? 1;
}
