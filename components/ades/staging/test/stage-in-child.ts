// Stages in what the test says, in a process that can be killed.
import { stageIn } from "../stage-in.ts";
import { openAccess } from "./servers.ts";

const [href = "", target = ""] = process.argv.slice(2);
await stageIn({
  source: { href, as: "file" },
  target,
  access: openAccess(),
  signal: new AbortController().signal,
  onProgress: (bytes) => process.send?.(bytes),
});
