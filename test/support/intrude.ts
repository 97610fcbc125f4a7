// Tries files and sockets with the rights of the process that it is: reads `{files, sockets, replaced}` as JSON, prints what it could
// open, and where it could put a link.
import { closeSync, openSync, readdirSync, renameSync, statSync, symlinkSync } from "node:fs";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

interface Attempts {
  readonly files: readonly string[];
  readonly sockets: readonly string[];
  readonly replaced?: readonly string[];
}
const { files, sockets, replaced = [] } = JSON.parse(await text(process.stdin)) as Attempts;
const opened: string[] = [];
for (const file of files) {
  try {
    if (statSync(file).isDirectory()) {
      readdirSync(file);
    } else {
      closeSync(openSync(file, "r"));
    }
    opened.push(file);
  } catch {
    // Refused.
  }
}
for (const path of sockets) {
  const isOpen = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => resolve(true)).on("error", () => resolve(false));
    socket.setTimeout(2000, () => resolve(false));
  });
  if (isOpen) {
    opened.push(path);
  }
}
for (const path of replaced) {
  for (const put of [() => renameSync(path, `${path}.real`), () => symlinkSync("/run/elsewhere", `${path}.link`)]) {
    try {
      put();
      opened.push(path);
    } catch {
      // Refused.
    }
  }
}
process.stdout.write(JSON.stringify(opened), () => process.exit(0));
