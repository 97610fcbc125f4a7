import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { CreateBucketCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";

import { ROOT, type TestAdes, startAdes } from "./start-ades.ts";

const EXAMPLES = join(import.meta.dirname, "../../../examples");
const PACKAGE = readFileSync(join(EXAMPLES, "packages/s-expression.cwl"), "utf8");
let ades: TestAdes;
before(async () => {
  ades = await startAdes();
});
after(() => ades.close());

test("a package is checked without being deployed: its mistakes with their lines, its description, its graph", async () => {
  const check = (text: string, query = "") =>
    ades.send(`/eric/ogc-api/packages/check${query}`, { text, type: "application/cwl+yaml" });
  const { body: good } = await check(PACKAGE);
  assert.equal(good.valid, true);
  assert.deepEqual(good.workflows, ["s-expression"]);
  assert.equal(good.process.inputs.s_expression.schema.type, "string");
  assert.deepEqual(
    good.graph.nodes.map(({ id }: { id: string }) => id),
    ["in:input_reference", "in:s_expression", "calculate", "out:results"],
  );
  const line = PACKAGE.split("\n").findIndex((text) => text.includes('run: "#calculate"')) + 1;
  const { body: bad } = await check(PACKAGE.replace('run: "#calculate"', 'run: "#nothing"'));
  assert.equal(bad.valid, false);
  assert.equal(bad.process, undefined);
  assert.ok(
    bad.problems.some(
      (problem: { severity: string; line: number }) => problem.severity === "error" && problem.line === line,
    ),
    JSON.stringify(bad.problems),
  );
  assert.equal((await check("a: [")).body.valid, false);
  const { body: byValue } = await ades.send("/eric/ogc-api/packages/check", {
    json: { executionUnit: { value: PACKAGE, type: "application/cwl" } },
  });
  assert.equal(byValue.valid, true);
  assert.equal((await ades.send("/eric/ogc-api/processes/s-expression")).status, 404);
});

test("the files of results are listed and read, whole and in parts, by their owner alone", async () => {
  const s3 = new S3Client({ endpoint: ades.objstoreUrl, region: "us-east-1", forcePathStyle: true, credentials: ROOT });
  await s3.send(new CreateBucketCommand({ Bucket: "results" })).catch(() => {});
  const scene = join(EXAMPLES, "scenes/canberra");
  for (const name of readdirSync(scene)) {
    await s3.send(
      new PutObjectCommand({ Bucket: "results", Key: `scenes/${name}`, Body: readFileSync(join(scene, name)) }),
    );
  }
  s3.destroy();
  assert.equal((await ades.send("/eric/ogc-api/processes", { text: PACKAGE, type: "application/cwl" })).status, 201);
  const { body: graph } = await ades.send("/eric/ogc-api/processes/s-expression/graph");
  assert.equal(graph.nodes.length, 4);
  const started = await ades.send("/eric/ogc-api/processes/s-expression/execution", {
    json: {
      inputs: { input_reference: "s3://results/scenes/item.json", s_expression: "ndvi:(/ (- nir red) (+ nir red))" },
    },
    headers: { prefer: "respond-async" },
  });
  const location = started.headers.get("location") ?? "";
  assert.deepEqual((await ades.send(`${location}/files`)).body.files, []);
  const job = await ades.ended(location);
  assert.equal(job.status, "successful", job.message);

  const { files } = (await ades.send(`${location}/files`)).body as {
    files: { path: string; href: string; type: string; size: number }[];
  };
  assert.ok(files.some(({ path }) => path === "catalog.json"));
  const raster = files.find(({ path }) => path.endsWith(".tif"));
  assert.ok(raster !== undefined);
  assert.match(raster.type, /^image\/tiff/);
  const part = await ades.send(raster.href, { headers: { range: "bytes=0-3" } });
  assert.equal(part.status, 206);
  assert.equal(part.headers.get("content-range"), `bytes 0-3/${raster.size}`);
  assert.match(part.body, /^II/);
  assert.match(part.headers.get("content-security-policy") ?? "", /^sandbox/);
  const head = await ades.send(raster.href, { method: "HEAD" });
  assert.equal(head.headers.get("content-length"), String(raster.size));
  const whole = await ades.send(`${raster.href}?download`);
  assert.match(whole.headers.get("content-disposition") ?? "", /^attachment; filename\*=UTF-8''.*\.tif$/);
  const etag = whole.headers.get("etag") ?? "";
  assert.equal((await ades.send(raster.href, { headers: { "if-none-match": etag } })).status, 304);
  assert.equal((await ades.send(raster.href, { headers: { range: "bytes=999999999-" } })).status, 416);
  assert.equal((await ades.send(`${location}/files/nothing.tif`)).status, 404);
  assert.equal((await ades.send(`${location}/files/a/%2e%2e/%2e%2e/scenes/item.json`)).status, 404);
  assert.equal((await ades.send(raster.href.replace("eric", "bob"))).status, 404);
});
