import { spawnSync } from "node:child_process";
import { join } from "node:path";

const PACKAGES = ["keystone==30.0.0", "swift==2.38.3", "uwsgi==2.0.31"];

/**
 * Folder with the programs of Keystone and Swift: that of OPENSTACK_BIN, else of a virtual environment made below `folder`; undefined where none
 * can be made.
 */
export function installOpenStack(folder: string): string | undefined {
  const provided = process.env["OPENSTACK_BIN"];
  if (provided !== undefined) {
    return provided;
  }
  const programs = join(folder, "python/bin");
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
  return run("python3", "-m", "venv", join(folder, "python")) &&
    run(join(programs, "pip"), "install", "-q", ...PACKAGES)
    ? programs
    : undefined;
}
