// prune.ts <folder>: removes from an installation for use what no command and no service reads. `tools/install/install` runs it.
import { removeLitter } from "./prune-files.ts";

const [folder = ""] = process.argv.slice(2);
removeLitter(folder);
