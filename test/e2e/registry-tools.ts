import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { TestAdes } from "../../components/ades/test/start-ades.ts";
import { type RegistryClient, digestOf, imageOf } from "../../components/registry/test/client.ts";

export interface ToolsImage {
  readonly admin: RegistryClient;
  /** Where its files are put together. */
  readonly folder: string;
  readonly repository: string;
  readonly tag: string;
  /** In `/etc/says`. */
  readonly says: string;
}

/** Pushes an image with a shell, that says its name, and gives its digest. */
export async function pushTools({ admin, folder, repository, tag, says }: ToolsImage): Promise<string> {
  const root = mkdtempSync(join(folder, "root-"));
  for (const name of ["bin", "tmp", "etc", "var/spool", "var/lib"]) {
    mkdirSync(join(root, name), { recursive: true });
  }
  copyFileSync("/bin/busybox", join(root, "bin/busybox"));
  symlinkSync("busybox", join(root, "bin/sh"));
  symlinkSync("busybox", join(root, "bin/cat"));
  writeFileSync(join(root, "etc/says"), says);
  const layer = execFileSync("tar", ["-C", root, "-c", "."], { maxBuffer: 1 << 26 });
  const config = Buffer.from(
    JSON.stringify({
      architecture: "amd64",
      os: "linux",
      config: { Env: ["PATH=/bin"] },
      rootfs: { type: "layers", diff_ids: [digestOf(layer)] },
    }),
  );
  await admin.pushBlob(repository, config);
  await admin.pushBlob(repository, layer);
  const { status, headers } = await admin.putManifest(repository, tag, imageOf(config, [layer]));
  assert.equal(status, 201);
  return headers.get("docker-content-digest") ?? "";
}

/** Runs a process with the input `name`; its status document once it has ended, and its output where it went well. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- what it gives is what follows
export async function runProcess(ades: TestAdes, user: string, id: string) {
  const { status, headers, body } = await ades.send(`/${user}/ogc-api/processes/${id}/execution`, {
    json: { inputs: { name: "World" } },
    headers: { prefer: "respond-async" },
  });
  assert.equal(status, 201, JSON.stringify(body));
  const location = headers.get("location") ?? "";
  const ended = await ades.ended(location);
  const results = ended.status === "successful" ? toText((await ades.send(`${location}/results`)).body) : undefined;
  return { ended, results };
}

/** The output `text` of results, as a document or by itself. */
function toText(body: unknown): string {
  const { text = body } = Object(body) as { text?: unknown };
  return String((Object(text) as { value?: unknown }).value ?? text).trim();
}
