// The containers that the service adds to a tool's pod: `fetch` brings the step's inputs before the tool starts, `collect` stores
// its outputs after it has ended. They know the node's blob agent and the token of the one job, and nothing else.
import { join } from "node:path";

import { createAgentClient } from "./agent-client.ts";
import { type FileTree, parseStepDocument } from "./documents.ts";
import { hashFile, readTree, writeTree } from "./trees.ts";

/** Milliseconds that the agent, and the object storage behind it, may be away. */
const TIMEOUT_MS = 10 * 60_000;

const read = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === "") {
    console.error(`${name} is required`);
    process.exit(78);
  }
  return value;
};
const action = read("STEP_ACTION");
const folder = read("STEP_FOLDER");
// Never aborted: a signal ends the process.
const { signal } = new AbortController();
const agent = createAgentClient({
  url: read("STEP_FILES_URL"),
  job: read("STEP_JOB"),
  pod: read("STEP_POD"),
  tokenFile: read("STEP_TOKEN_FILE"),
  timeoutMs: TIMEOUT_MS,
  signal,
});
process.once("SIGTERM", () => process.exit(143));
try {
  await (action === "fetch" ? fetchInputs() : collectOutputs(read("STEP_COLLECT").split(",")));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
agent.close();

async function fetchInputs(): Promise<void> {
  const { trees } = parseStepDocument(await agent.readInputs());
  for (const { root, entries } of trees) {
    await writeTree(placeOf(root), entries, signal, (entry, path) => agent.fetchBlob(entry.sha256, entry.size, path));
  }
}

async function collectOutputs(roots: readonly string[]): Promise<void> {
  await agent.waitForEnd();
  const stored = new Map<string, Promise<void>>();
  const trees: FileTree[] = [];
  for (const root of roots) {
    const entries = await readTree(placeOf(root), signal, async (path) => {
      const { sha256, size } = await hashFile(path);
      const storing = stored.get(sha256) ?? agent.storeBlob(sha256, size, path);
      stored.set(sha256, storing);
      await storing;
      return { sha256, size };
    });
    trees.push({ root, entries });
  }
  await agent.storeOutputs(JSON.stringify({ trees }));
}

/** The working and the scratch directory have a volume each, whose part the tool sees. */
function placeOf(root: string): string {
  return root.startsWith("inputs/") ? join(folder, root) : join(folder, root, "data");
}
