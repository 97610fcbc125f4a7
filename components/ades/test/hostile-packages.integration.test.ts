import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import { after, before, test } from "node:test";

import { ECHO_TOOL } from "./packages.ts";
import { type TestAdes, startAdes } from "./start-ades.ts";

/** What packages may be large, deep and full of: each is answered with what is wrong, and nobody else waits. */
let ades: TestAdes;
let files: Server;
let fileUrl: string;
before(async () => {
  ades = await startAdes({ env: { ALLOW_PRIVATE: "127.0.0.1" } });
  // A raster: binary, with everything that a text has not.
  const raster = Buffer.alloc(1_500_000, 0);
  raster.write("II*\0");
  for (let at = 8; at < raster.length; at += 1) {
    raster[at] = (at * 31) % 251;
  }
  files = createServer((_request, response) => response.writeHead(200, { "content-type": "image/tiff" }).end(raster));
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve));
  fileUrl = `http://127.0.0.1:${(files.address() as { port: number }).port}/scene.tif`;
  assert.equal((await deploy("bob", ECHO_TOOL)).status, 201);
});
after(async () => {
  files.close();
  await ades.close();
});

const deploy = (user: string, text: string, type = "application/cwl") =>
  ades.send(`/${user}/ogc-api/processes`, { text, type });

const HEAD = "cwlVersion: v1.2\nclass: CommandLineTool\nid: bad\nbaseCommand: 'true'\ninputs: []\noutputs: []\n";
const BOMB = `${HEAD}a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from(
  { length: 9 },
  (_, level) => `a${level + 1}: &a${level + 1} [${Array.from({ length: 10 }, () => `*a${level}`).join(",")}]`,
).join("\n")}\n`;
const MERGES = `${HEAD}m0: &m0 { k: v }\n${Array.from(
  { length: 3000 },
  (_, level) => `m${level + 1}: &m${level + 1}\n  <<: *m${level}\n  k${level}: v`,
).join("\n")}\n`;

test("others are answered while hostile packages are read, each of which is refused", async () => {
  const hostile: readonly (readonly [string, string, RegExp])[] = [
    ["a list of 4.5 MB", `${HEAD}x:\n${"- a\n".repeat(1_130_000)}`, /allowed: 2097152|larger than/],
    ["a list of 1.9 MB", `${HEAD}x:\n${"- a\n".repeat(480_000)}`, /more than 100000 tokens of YAML/],
    ["aliases of aliases", BOMB, /expands to more than|Excessive alias|longer than 5000 ms/i],
    ["merges of merges", MERGES, /./],
    ["brackets", `${HEAD}x: ${"[".repeat(90_000)}`, /./],
  ];
  let answered = 0;
  let isOver = false;
  // Somebody else meanwhile, also with packages.
  const others = (async () => {
    while (!isOver) {
      assert.equal((await ades.send("/bob/ogc-api/processes/say")).status, 200);
      const said = await ades.send("/bob/ogc-api/processes/say/execution", { json: { inputs: { text: "hello" } } });
      assert.deepEqual([said.status, String(said.body).trim()], [200, "hello"]);
      answered += isOver ? 0 : 1;
    }
  })();
  const responses = await Promise.all(hostile.map(([, text]) => deploy("eve", text)));
  isOver = true;
  await others;
  for (const [index, [name, , detail]] of hostile.entries()) {
    const response = responses[index];
    assert.ok(response !== undefined && [400, 413].includes(response.status), `${name}: ${response?.status}`);
    assert.match(response.body.detail, detail, name);
  }
  // With one event loop for all there would be none until the last of them is read.
  assert.ok(answered >= 5, `others were answered ${answered} times`);
});

test("an address of a raster is no package", async () => {
  const { status, body } = await ades.send("/eve/ogc-api/processes", {
    json: { executionUnit: { href: fileUrl, type: "application/cwl" } },
  });
  assert.equal(status, 400);
  assert.match(body.detail, /cannot be read|UTF-8/);
});

test("a package whose tools ask for what no machine has is refused when it is deployed", async () => {
  const asking = (resources: string) =>
    deploy("eve", ECHO_TOOL.replace("baseCommand", `requirements: { ResourceRequirement: ${resources} }\nbaseCommand`));
  assert.match((await asking("{ ramMin: -5 }")).body.detail, /ramMin is -5; allowed: 0 or more/);
  assert.match((await asking("{ coresMin: 5000 }")).body.detail, /asks for 5000 cores/);
  assert.match((await asking("{ outdirMin: 10, outdirMax: 5 }")).body.detail, /outdirMin is 10, more than outdirMax/);
});
