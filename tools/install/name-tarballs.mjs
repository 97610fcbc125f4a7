// name-tarballs.mjs <lock file> <registry>: adds the address of each package's archive, as npm's registry and its mirrors form it.
// Without addresses, which the committed lock file leaves out, npm first fetches the list of all versions of every package: 60 MB.
// Runs on the machine's own Node.js, before the pinned one is there.
import { readFileSync, writeFileSync } from "node:fs";

const MODULES = "node_modules/";
const [file = "", registry = ""] = process.argv.slice(2);
const base = registry.replace(/\/*$/, "/");
const lock = JSON.parse(readFileSync(file, "utf8"));
for (const [path, entry] of Object.entries(lock.packages)) {
  // Workspaces and links have no archive.
  if (entry.integrity !== undefined && entry.resolved === undefined) {
    const name = entry.name ?? path.slice(path.lastIndexOf(MODULES) + MODULES.length);
    entry.resolved = `${base}${name}/-/${name.split("/").at(-1)}-${entry.version}.tgz`;
  }
}
writeFileSync(file, JSON.stringify(lock, null, 2));
