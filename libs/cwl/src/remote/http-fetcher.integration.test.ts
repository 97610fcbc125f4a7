import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { CwlError } from "../errors.ts";
import { loadDocument } from "../load/load.ts";
import type { FileValue } from "../model/values.ts";
import { loadInputs } from "../run/job-inputs.ts";
import { runProcess } from "../run/run-process.ts";
import { createHttpFetcher } from "./http-fetcher.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-http-")));
const asked: string[] = [];
const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {};
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  (routes[request.url ?? ""] ?? ((_request, response) => response.writeHead(404).end()))(request, response);
});
let origin = "";
let counter = 0;

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => asked.splice(0));
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(scratch, { recursive: true, force: true });
});

const text = (body: string) => (_request: IncomingMessage, response: ServerResponse) => void response.end(body);
const location = (): string => join(scratch, `place-${(counter += 1)}`);
const isCode = (code: string, message: RegExp) => (error: unknown) =>
  error instanceof CwlError && error.code === code && message.test(error.message);

routes["/app/main.cwl"] = text(`cwlVersion: v1.2
class: Workflow
requirements: {SchemaDefRequirement: {types: [{$import: types.yml}]}}
inputs: {mode: {type: "types.yml#mode"}, file: File}
outputs: {out: {type: File, outputSource: s/out}}
steps: {s: {run: tools/cat.cwl, in: {file: file}, out: [out]}}
`);
routes["/app/types.yml"] = text("{name: mode, type: enum, symbols: [a, b]}");
routes["/app/tools/cat.cwl"] = text(`cwlVersion: v1.2
class: CommandLineTool
baseCommand: cat
inputs:
  file: {type: File, inputBinding: {position: 1}}
  more: {type: File, default: {class: File, location: more.txt}, inputBinding: {position: 2}}
outputs: {out: stdout}
`);
routes["/app/tools/more.txt"] = text("more");
routes["/app/job.yml"] = text("{mode: a, file: {class: File, location: data/in.txt}}");
routes["/app/data/in.txt"] = text("in ");

test("a workflow, what it refers to, its job object and its files come from a server", async () => {
  const fetcher = createHttpFetcher();
  const document = await loadDocument(`${origin}/app/main.cwl`, { fetcher });
  const inputs = await loadInputs(`${origin}/app/job.yml`, document, { fetcher });
  const outputs = await runProcess({ document, inputs, fetcher, outDir: location(), workDir: scratch });
  assert.equal(readFileSync(new URL((outputs["out"] as FileValue).location ?? ""), "utf8"), "in more");
});

test("a document from elsewhere names no files of this machine", async () => {
  const fetcher = createHttpFetcher();
  routes["/import.cwl"] = text(
    `cwlVersion: v1.2\nclass: CommandLineTool\ninputs: {$import: "file:///etc/hostname"}\noutputs: []\n`,
  );
  await assert.rejects(
    loadDocument(`${origin}/import.cwl`, { fetcher }),
    isCode("unsafe", /cannot refer to the local file/),
  );
  routes["/default.cwl"] = text(
    `{cwlVersion: v1.2, class: CommandLineTool, baseCommand: cat, outputs: {out: stdout},
      inputs: {f: {type: File, inputBinding: {}, default: {class: File, location: "file:///etc/hostname"}}}}`,
  );
  const document = await loadDocument(`${origin}/default.cwl`, { fetcher });
  await assert.rejects(
    runProcess({ document, inputs: {}, fetcher, outDir: location(), workDir: scratch }),
    isCode("unsafe", /no file of this job/),
  );
});

test("what is in the cache is asked for with a condition, and used when nobody answers", async () => {
  const cacheDir = location();
  let version = 1;
  routes["/cached"] = (request, response) => {
    const etag = `"v${version}"`;
    const isKnown = request.headers["if-none-match"] === etag;
    response.writeHead(isKnown ? 304 : 200, { etag }).end(isKnown ? "" : `text ${version}`);
  };
  const read = (url: string): Promise<string> => createHttpFetcher({ cacheDir }).readText(url, { limit: 100 });
  assert.equal(await read(`${origin}/cached`), "text 1");
  assert.equal(await read(`${origin}/cached`), "text 1");
  version = 2;
  assert.equal(await read(`${origin}/cached`), "text 2");
  assert.equal(asked.length, 3);
  const away = createHttpFetcher({ cacheDir, fetch: () => Promise.reject(new TypeError("fetch failed")) });
  assert.equal(await away.readText(`${origin}/cached`, { limit: 100 }), "text 2");
  await assert.rejects(away.readText(`${origin}/other`, { limit: 100 }), isCode("reference", /fetch failed/));
  const refused = createHttpFetcher({
    cacheDir,
    check: () => {
      throw new CwlError("unsafe", "not there");
    },
  });
  await assert.rejects(refused.readText(`${origin}/cached`, { limit: 100 }), isCode("unsafe", /not there/));
});

test("a full cache forgets what was not used for longest", async () => {
  const cacheDir = location();
  const fetcher = createHttpFetcher({ cacheDir, cacheBytes: 250 });
  for (const name of ["/a", "/b", "/c"]) {
    routes[name] = (_request, response) => void response.setHeader("etag", name).end(name.repeat(50));
    await fetcher.readText(`${origin}${name}`, { limit: 1000 });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const away = createHttpFetcher({ cacheDir, fetch: () => Promise.reject(new TypeError("fetch failed")) });
  await assert.rejects(away.readText(`${origin}/a`, { limit: 1000 }));
  assert.equal(await away.readText(`${origin}/c`, { limit: 1000 }), "/c".repeat(50));
});

test("servers that send too much, stall, break off or send in circles are given up", async () => {
  routes["/endless"] = (_request, response) => {
    const more = (): void =>
      void (
        response.destroyed || (response.write("x".repeat(65_536)) ? setImmediate(more) : response.once("drain", more))
      );
    more();
  };
  routes["/announced"] = (_request, response) => void response.writeHead(200, { "content-length": 1e9 }).end("x");
  routes["/silent"] = () => undefined;
  routes["/stalls"] = (_request, response) => void response.write("x");
  routes["/breaks"] = (_request, response) => {
    response.writeHead(200, { "content-length": 100 }).write("x");
    setTimeout(() => response.destroy(), 20);
  };
  routes["/circle"] = (_request, response) => void response.writeHead(302, { location: "/circle" }).end();
  routes["/away"] = (_request, response) => void response.writeHead(302, { location: "file:///etc/hostname" }).end();
  const patient = createHttpFetcher({ timeoutMs: 30_000, downloadBytes: 1_000_000 });
  const impatient = createHttpFetcher({ timeoutMs: 300, downloadBytes: 1_000_000 });
  const cases: readonly [string, string, RegExp][] = [
    ["/endless", "limit", /more than 1000000 bytes/],
    ["/announced", "limit", /more than 1000000 bytes/],
    ["/silent", "reference", /does not answer/],
    ["/stalls", "reference", /stopped in the middle/],
    ["/breaks", "reference", /./],
    ["/circle", "reference", /redirections/],
    ["/away", "unsupported", /only http and https/],
    ["/nothing", "reference", /404/],
  ];
  for (const [path, code, message] of cases) {
    const target = location();
    const fetcher = path === "/silent" || path === "/stalls" ? impatient : patient;
    await assert.rejects(fetcher.download(origin + path, target, {}), isCode(code, message), path);
    assert.ok(!existsSync(target), path);
  }
});

test("every address is checked before it is asked, those of redirections too", async () => {
  routes["/public"] = (_request, response) => void response.writeHead(307, { location: "/private" }).end();
  routes["/private"] = text("private");
  const check = async ({ pathname }: URL): Promise<void> => {
    await Promise.resolve();
    if (pathname === "/private") {
      throw new CwlError("unsafe", "it may not be reached");
    }
  };
  const fetcher = createHttpFetcher({ check });
  await assert.rejects(fetcher.readText(`${origin}/public`, { limit: 100 }), isCode("unsafe", /may not be reached/));
  assert.deepEqual(asked, ["/public"]);
});
