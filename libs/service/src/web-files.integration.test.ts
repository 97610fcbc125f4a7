import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { createApp } from "./fastify.ts";
import { createLogger } from "./log.ts";
import { addWebFiles } from "./web-files.ts";

const directory = await mkdtemp(join(tmpdir(), "swath-web-"));
const app = createApp(createLogger("test", "fatal"));
await addWebFiles(app, { directory, connect: ["https://objstore.example.org"] });
after(async () => {
  await app.close();
  await rm(directory, { recursive: true, force: true });
});

const get = (url: string, headers: Record<string, string> = { accept: "text/html" }) => app.inject({ url, headers });

async function build(name: string): Promise<void> {
  await mkdir(join(directory, "assets"), { recursive: true });
  await writeFile(join(directory, "assets", `${name}.js`), `// ${name}`);
  await writeFile(join(directory, "assets", `${name}.js.br`), `compressed ${name}`);
  await writeFile(
    join(directory, "index.html"),
    `<meta property="csp-nonce" nonce="CSP_NONCE"><script src="/assets/${name}.js">`,
  );
}

test("where nothing is built a page says so, and a build that comes later needs no restart", async () => {
  const before = await get("/");
  assert.equal(before.statusCode, 503);
  assert.match(before.body, /npm run build:web/);
  await build("first");
  assert.match((await get("/jobs/7?x=1")).body, /assets\/first\.js/);
  assert.equal((await get("/assets/first.js")).body, "// first");
  await build("second");
  assert.match((await get("/")).body, /assets\/second\.js/);
  assert.equal((await get("/assets/second.js")).body, "// second");
  assert.equal((await get("/assets/first.js")).body, "// first", "for pages that are open");
});

test("files with hashed names are kept for ever, compressed where the browser takes that; pages never", async () => {
  const file = await get("/assets/second.js", { "accept-encoding": "br, gzip" });
  assert.equal(file.body, "compressed second");
  assert.equal(file.headers["content-encoding"], "br");
  assert.equal(file.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal((await get("/")).headers["cache-control"], "no-cache");
});

test("no page has script inside it, each has a nonce of its own, and only named hosts are asked", async () => {
  const [first, second] = [await get("/"), await get("/")];
  const policy = String(first.headers["content-security-policy"]);
  assert.match(policy, /script-src 'self';/);
  assert.match(policy, /connect-src 'self' https:\/\/objstore\.example\.org;/);
  const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1];
  assert.ok(nonce !== undefined && first.body.includes(`nonce="${nonce}"`));
  assert.ok(!second.body.includes(nonce));
});

test("what is no page and no file is not found, for programs and for browsers", async () => {
  for (const url of ["/api/nothing", "/assets/gone.js", "/assets/..%2findex.html", "/assets/.hidden"]) {
    assert.equal((await get(url)).statusCode, 404, url);
  }
  assert.equal((await get("/favicon.ico", { accept: "image/avif,image/png" })).statusCode, 404);
});
