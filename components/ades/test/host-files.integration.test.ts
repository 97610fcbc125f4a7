// Packages that name files of the service's host, or of another user's jobs, at every place where CWL has a File: nothing
// of them is in what the service gives back or stores.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { expressionTool, packagesThatName } from "./host-file-packages.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

const SECRET = "a-secret-of-the-host-that-no-package-may-see";
let folder: string;
let secrets: string;
let ades: TestAdes;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "swath-host-files-"));
  mkdirSync(join(folder, "host/deep"), { recursive: true });
  secrets = join(folder, "host/secrets.json");
  writeFileSync(secrets, SECRET);
  writeFileSync(join(folder, "host/deep/more.txt"), SECRET);
  ades = await startAdes({ dataFolder: join(folder, "jobs") });
  assert.equal(
    (await deploy("bob", "kept", expressionTool("{class: 'File', basename: 'b.txt', contents: 'of bob'}"))).status,
    201,
  );
});
after(async () => {
  await ades.close();
  rmSync(folder, { recursive: true, force: true });
});

const deploy = (user: string, id: string, text: string) =>
  ades.send(`/${user}/ogc-api/processes`, {
    text: text.replace("class:", `id: ${id}\nclass:`),
    type: "application/cwl",
  });

/** Deploys and runs one, and gives all that the service said and stored of it. */
async function attack(
  user: string,
  id: string,
  text: string,
): Promise<{ readonly said: string; readonly failed: boolean }> {
  const deployed = await deploy(user, id, text);
  if (deployed.status !== 201) {
    return { said: JSON.stringify(deployed.body), failed: true };
  }
  const { status, headers, body } = await ades.send(`/${user}/ogc-api/processes/${id}/execution`, {
    json: { inputs: {} },
    headers: { prefer: "respond-async" },
  });
  if (status !== 201) {
    return { said: JSON.stringify(body), failed: true };
  }
  const location = headers.get("location") ?? "";
  const job = await ades.ended(location);
  const more = await Promise.all(
    ["/results", "/log", "/provenance"].map((part) => ades.send(`${new URL(location, ades.url).pathname}${part}`)),
  );
  return {
    said: JSON.stringify([job, more.map((response) => response.body as unknown)]),
    failed: job.status === "failed",
  };
}

test("no package gets at a file of the host, and each is told why", async () => {
  for (const [id, text, why] of packagesThatName(secrets)) {
    const { said, failed } = await attack("eve", id, text);
    assert.ok(!said.includes(SECRET), `${id}: ${said}`);
    assert.ok(failed || id === "schemas", `${id} did not fail: ${said}`);
    if (failed) {
      assert.match(said, why, id);
    }
  }
});

test("no package gets at a file of another user's job", async () => {
  const other = join(folder, "jobs/jobs/another/secrets.json");
  mkdirSync(join(other, ".."), { recursive: true });
  writeFileSync(other, SECRET);
  for (const [id, text, why] of packagesThatName(other)) {
    const { said, failed } = await attack("mallory", id, text);
    assert.ok(!said.includes(SECRET), `${id}: ${said}`);
    assert.ok(failed || id === "schemas", `${id} did not fail: ${said}`);
    if (failed) {
      assert.match(said, why, id);
    }
  }
});

test("an input of a request that names a file of the host is refused", async () => {
  const text = expressionTool("inputs.f", "{ f: File }");
  assert.equal((await deploy("eve", "takes-file", text)).status, 201);
  for (const href of [`file://${secrets}`, secrets, `FILE://localhost${secrets}`]) {
    const { status, body } = await ades.send("/eve/ogc-api/processes/takes-file/execution", {
      json: { inputs: { f: { href } } },
      headers: { prefer: "respond-async" },
    });
    assert.equal(status, 400, href);
    assert.doesNotMatch(JSON.stringify(body), new RegExp(SECRET));
  }
});
