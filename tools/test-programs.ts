import { spawnSync } from "node:child_process";

import { SYSTEM_PROGRAMS, isInstalled } from "../libs/testing/src/system-programs.ts";

/** Modules that tests import into Debian's Python, and their packages. */
const PYTHON = "/usr/bin/python3";
const MODULES: readonly (readonly [module: string, debianPackage: string])[] = [
  ["boto3", "python3-boto3"],
  ["yaml", "python3-yaml"],
  ["owslib", "python3-owslib"],
];

/** A machine that has just started may update itself at the same time; a mirror may be away for a moment. */
const APT_OPTIONS = ["-o", "DPkg::Lock::Timeout=600", "-o", "Acquire::Retries=3"];

/**
 * Installs what is missing where that may be done unasked (CI, as root, with apt), and says plainly what tests will skip
 * otherwise.
 */
export function prepareTestPrograms(env: NodeJS.ProcessEnv): void {
  const programs = [...SYSTEM_PROGRAMS].filter(([program]) => !isInstalled(program, env["PATH"] ?? ""));
  const modules = MODULES.filter(([name]) => spawnSync(PYTHON, ["-c", `import ${name}`], { env }).status !== 0);
  const missing = [...programs.map(([program]) => program), ...modules.map(([name]) => `Python's ${name}`)];
  if (missing.length === 0) {
    return;
  }
  const packages = [...programs.flatMap(([, needed]) => needed), ...modules.map(([, needed]) => needed)];
  const mayInstall = env["CI"] === "true" && process.getuid?.() === 0 && isInstalled("apt-get", env["PATH"] ?? "");
  if (mayInstall) {
    console.log(`installing ${packages.join(" ")}`);
    const apt = (...args: string[]) =>
      spawnSync("apt-get", [...APT_OPTIONS, ...args], {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...env, DEBIAN_FRONTEND: "noninteractive" },
      }).status === 0;
    if (apt("update", "-qq") && apt("install", "-y", "-qq", "--no-install-recommends", ...packages)) {
      return;
    }
  }
  console.log(
    `not installed: ${missing.join(", ")}. Tests that drive them are skipped.\n` +
      `On Debian: apt-get install ${packages.join(" ")}; CI=true npm test does so itself, as root.`,
  );
}
