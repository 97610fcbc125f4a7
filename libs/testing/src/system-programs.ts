import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Programs of the system that tests drive, by name or by the path at which tests look for Debian's own, and the packages that bring them. */
export const SYSTEM_PROGRAMS: ReadonlyMap<string, readonly string[]> = new Map([
  ["curl", ["curl"]],
  ["podman", ["podman"]],
  ["runc", ["runc"]],
  ["/bin/busybox", ["busybox-static"]],
  ["/usr/bin/aws", ["awscli"]],
  ["s3cmd", ["s3cmd"]],
  ["rclone", ["rclone"]],
  ["gdalinfo", ["gdal-bin"]],
  ["chromium-headless-shell", ["chromium-headless-shell"]],
  ["python3", ["python3"]],
  ["bwrap", ["bubblewrap"]],
  ["jupyter-notebook", ["jupyter-notebook", "python3-ipykernel", "python3-numpy"]],
  ["jupyterhub-singleuser", ["jupyterhub"]],
  ["knotd", ["knot"]],
  ["nginx", ["nginx-light"]],
  ["nmap", ["nmap"]],
  ["openssl", ["openssl"]],
  ["pebble", ["pebble"]],
  ["/usr/lib/postgresql", ["postgresql"]],
  ["restic", ["restic"]],
  ["shellcheck", ["shellcheck"]],
]);

/** Whether a program is on the path, or where servers are, to which the path of ordinary users does not lead. */
export function isInstalled(program: string, path = process.env["PATH"] ?? ""): boolean {
  const folders = isAbsolute(program) ? [""] : [...path.split(":"), "/usr/sbin"];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Why a test that drives these programs is skipped, with the command that installs them; `false` where all are there. */
export function skipWithout(...programs: readonly string[]): string | false {
  const missing = programs.filter((program) => !isInstalled(program));
  const packages = missing.flatMap((program) => SYSTEM_PROGRAMS.get(program) ?? [program]);
  return missing.length === 0
    ? false
    : `${missing.join(", ")}: not installed (on Debian: apt-get install ${packages.join(" ")})`;
}

/**
 * Why a whole test file is left out on this machine: it says in a line of its own, `// Needs: curl, openssl`, which programs all of its
 * tests drive. Hooks of such a file start nothing.
 */
export function skipFileWithout(source: string): string | false {
  const [, programs = ""] = /^\/\/ Needs: (.+)$/m.exec(source) ?? [];
  return programs === "" ? false : skipWithout(...programs.split(", "));
}
