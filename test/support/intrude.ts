// Tries files and sockets with the rights of the process that it is: reads `{files, sockets}` as JSON, prints what it could open.
import { closeSync, openSync, readdirSync, statSync } from "node:fs";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

const { files, sockets } = JSON.parse(await text(process.stdin)) as Record<"files" | "sockets", readonly string[]>;
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
process.stdout.write(JSON.stringify(opened), () => process.exit(0));
