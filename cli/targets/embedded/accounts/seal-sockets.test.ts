import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { sealSockets } from "./seal-sockets.ts";

const ACCOUNT = 61_184;
const skip = process.getuid?.() !== 0 && "only root gives files away";
let folder: string;
const server = createServer();

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "swath-seal-"));
  chmodSync(folder, 0o711);
  const socket = join(folder, "http.sock");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  if (skip === false) {
    chownSync(socket, ACCOUNT, ACCOUNT);
  }
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function asAccount(script: string) {
  const become = [`--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, "--clear-groups", "--"];
  const { status } = spawnSync("setpriv", [...become, "sh", "-c", script]);
  return status;
}

test("an account changes nothing in the folder of its sockets once they are sealed", { skip }, () => {
  chownSync(folder, ACCOUNT, ACCOUNT);
  assert.equal(asAccount(`mv ${folder}/http.sock ${folder}/real && mv ${folder}/real ${folder}/http.sock`), 0);
  sealSockets(folder, { uid: ACCOUNT });
  assert.equal(statSync(folder).uid, 0);
  assert.notEqual(asAccount(`mv ${folder}/http.sock ${folder}/real`), 0);
  assert.notEqual(asAccount(`ln -s /run/elsewhere ${folder}/link`), 0);
});

test("refuses a folder with a link, or with a socket of another account", { skip }, () => {
  symlinkSync("/run/elsewhere", join(folder, "link"));
  assert.throws(() => sealSockets(folder, { uid: ACCOUNT }), /^Error: link in the folder/);
  renameSync(join(folder, "link"), `${folder}-link`);
  rmSync(`${folder}-link`);
  assert.throws(() => sealSockets(folder, { uid: ACCOUNT + 1 }), /^Error: http\.sock in the folder/);
});
