import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runCommand } from "./run-command.ts";

/** Program that imports an image archive into the test cluster; beside the repository, or below SWATH_SHARED. */
function findLoader(root: string): string {
  // oxlint-disable-next-line node/no-process-env -- where tests find what is shared
  return join(process.env["SWATH_SHARED"] ?? join(root, "../shared"), "kubernetes/cluster");
}

/** Why images cannot be given to the cluster; `undefined` when they can. */
export function findImagesSkipReason(root: string): string | undefined {
  return !existsSync(findLoader(root))
    ? `no program imports images into the cluster: ${findLoader(root)} is not there (set SWATH_SHARED)`
    : !existsSync("/usr/bin/buildah")
      ? "buildah is not installed (Debian: apt-get install buildah)"
      : !existsSync("/usr/bin/busybox")
        ? "busybox is not installed (Debian: apt-get install busybox-static)"
        : undefined;
}

/** Ends all that runs on a node of the test cluster at once, as a power cut does, or starts it again. */
export async function setNodePower(root: string, node: string, power: "fail" | "recover"): Promise<void> {
  // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs
  const { status, stderr } = await runCommand(findLoader(root), [power, node], { env: process.env });
  if (status !== 0) {
    throw new Error(`cannot ${power} ${node}: ${stderr}`);
  }
}

/** Times that an import is tried. */
const MAX_IMPORTS = 3;

/**
 * Gives an archive of images to the cluster's nodes, one process at a time: containerd takes away what no image refers to, which can be a
 * layer of an import at work when another import names the same image ("content digest …: not found").
 */
export async function loadArchive(root: string, archive: string): Promise<void> {
  const lock = join(tmpdir(), "swath-test-images.lock");
  for (let tries = 1; ; tries += 1) {
    const { status, stderr } = await runCommand("flock", [lock, findLoader(root), "load", archive], {
      // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs
      env: process.env,
    });
    if (status === 0) {
      return;
    }
    if (tries === MAX_IMPORTS || !stderr.includes("not found")) {
      throw new Error(`cannot import ${archive}: ${stderr}`);
    }
  }
}

/** Builds an image of static busybox and gives it to the cluster's nodes. */
export async function loadBusybox(root: string, image: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "swath-busybox-"));
  const must = async (file: string, args: readonly string[]): Promise<string> => {
    // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs
    const { status, stdout, stderr } = await runCommand(file, args, { env: process.env });
    if (status !== 0) {
      throw new Error(`${file} ${args.join(" ")}: ${stderr}`);
    }
    return stdout;
  };
  try {
    for (const name of ["root/bin", "root/tmp", "root/var/spool", "root/var/lib", "root/etc"]) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    await must("cp", ["/usr/bin/busybox", join(folder, "root/bin/busybox")]);
    for (const applet of (await must("busybox", ["--list"])).split("\n")) {
      if (applet !== "" && applet !== "busybox") {
        symlinkSync("busybox", join(folder, "root/bin", applet));
      }
    }
    writeFileSync(join(folder, "Containerfile"), "FROM scratch\nCOPY root /\nENV PATH=/bin\n");
    const storage = ["--storage-driver", "vfs", "--root", join(folder, "storage"), "--runroot", join(folder, "run")];
    await must("buildah", [...storage, "bud", "-q", "-f", join(folder, "Containerfile"), "-t", image, folder]);
    const archive = join(folder, "image.tar");
    await must("buildah", [...storage, "push", "-q", image, `docker-archive:${archive}:${image}`]);
    await loadArchive(root, archive);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
