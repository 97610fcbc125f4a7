// prepare-lock.mjs <lock file> <registry>: makes npm fetch less than the committed lock file would.
// Runs on the machine's own Node.js, before the pinned one is there.
import { readFileSync, writeFileSync } from "node:fs";

const MODULES = "node_modules/";
/** Packages for the run time Bare, which Node.js never loads: 2.5 MB. npm leaves out what no package asks for. */
const OTHER_RUNTIME = /^bare-(fs|path)$/;

const [file = "", registry = ""] = process.argv.slice(2);
const base = registry.replace(/\/*$/, "/");
const lock = JSON.parse(readFileSync(file, "utf8"));
for (const [path, entry] of Object.entries(lock.packages)) {
  addAddress(path, entry);
  for (const wanted of [entry.dependencies, entry.optionalDependencies]) {
    for (const name of Object.keys(wanted ?? {}).filter((each) => OTHER_RUNTIME.test(each))) {
      delete wanted[name];
    }
  }
}
writeFileSync(file, JSON.stringify(lock, null, 2));

/**
 * The address of a package's archive, as npm's registry and its mirrors form it. Without addresses, which the committed lock file leaves
 * out, npm first fetches the list of all versions of every package: 60 MB.
 */
function addAddress(path, entry) {
  // Workspaces and links have no archive.
  if (entry.integrity !== undefined && entry.resolved === undefined) {
    const name = entry.name ?? path.slice(path.lastIndexOf(MODULES) + MODULES.length);
    entry.resolved = `${base}${name}/-/${name.split("/").at(-1)}-${entry.version}.tgz`;
  }
}
