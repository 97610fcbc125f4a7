// Needs: curl
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, dummyServiceOnly, runCommand, waitUntil } from "@swath/testing";

import { filePackage } from "../../components/ades/test/packages.ts";

// What a job makes is in its owner's catalogue and on the map at once, and goes with its files: on a whole platform.
const VARIABLES = {
  ...dummyServiceOnly,
  USE_TLS: "false",
  OPEN_INGRESS: "true",
  REQUIRE_DUMMY_SERVICE: "false",
  REQUIRE_ADES: "true",
  REQUIRE_OBJSTORE: "true",
  REQUIRE_WORKSPACE_API: "true",
  REQUIRE_RESOURCE_CATALOGUE: "true",
  REQUIRE_DATA_ACCESS: "true",
  REQUIRE_REGISTRATION_API: "true",
  STAGEOUT_TARGET: "workspace",
};
const SCENE = join(import.meta.dirname, "../../examples/scenes/lommel/B04.tif");

let cluster: TestCluster;
before(async () => {
  cluster = await createTestCluster(VARIABLES);
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});
after(() => cluster?.close());

const toUrl = (host: string, path: string) => `http://${host}.${cluster.domain}:${cluster.port}${path}`;

/** A request by curl, which finds hosts below localhost. */
async function curl(...args: readonly string[]) {
  const { stdout, stderr, status } = await runCommand("curl", ["-sS", "-i", "-H", "accept: application/json", ...args]);
  assert.equal(status, 0, stderr);
  const [head = "", ...rest] = stdout.split("\r\n\r\n");
  const text = rest.join("\r\n\r\n");
  const isJson = /^content-type: *[\w/+.-]*json/im.test(head) && text !== "";
  return {
    status: Number(head.split(" ")[1]),
    type: /^content-type: *([\w/+.-]+)/im.exec(head)?.[1] ?? "",
    location: /^location: *(.+)$/im.exec(head)?.[1]?.trim() ?? "",
    // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
    body: (isJson ? JSON.parse(text) : text) as any,
  };
}
const post = (url: string, body: unknown, ...more: readonly string[]) =>
  curl("-H", "content-type: application/json", ...more, "-d", JSON.stringify(body), url);
const store = (...args: readonly string[]) =>
  curl(
    "--aws-sigv4",
    "aws:amz:us-east-1:s3",
    "--user",
    "swath:changeme",
    "-H",
    "x-amz-content-sha256: UNSIGNED-PAYLOAD",
    ...args,
  );

test("a job's results are found and seen before its success was read twice, with links both ways, and go with their files", async () => {
  const created = await post(toUrl("workspace-api-open", "/workspaces"), {
    preferred_name: "eric",
    default_owner: "eric",
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const workspace = await waitUntil("the workspace", async () => {
    const { body } = await curl(toUrl("workspace-api-open", "/workspaces/ws-eric"));
    return body.status === "ready" && body.storage?.credentials;
  });
  const { bucketname: bucket } = workspace as { bucketname: string };
  const input = toUrl("objstore", `/${bucket}/inputs/scene_20240601.tif`);
  assert.equal((await store("-H", "expect:", "-T", SCENE, input)).status, 200);

  const space = toUrl("ades-open", "/eric/ogc-api");
  const deployed = await curl(
    "-H",
    "content-type: application/cwl+yaml",
    "--data-binary",
    filePackage("copy", 'cp "$1" copy_20240601.tif'),
    `${space}/processes`,
  );
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
  const started = await post(
    `${space}/processes/copy/execution`,
    { inputs: { file: { href: `s3://${bucket}/inputs/scene_20240601.tif` } } },
    "-H",
    "prefer: respond-async",
  );
  assert.equal(started.status, 201, JSON.stringify(started.body));
  const job = await waitUntil("the job", async () => {
    const { body } = await curl(started.location);
    return !["accepted", "running"].includes(body.status as string) && body;
  });
  assert.equal(job.status, "successful", JSON.stringify(job));

  // Read once: it is all there.
  const collectionUrl = job.links.find(({ rel }: { rel: string }) => rel === "collection")?.href as string;
  const { body: told } = await curl(`${started.location}/notifications`);
  assert.ok(collectionUrl, JSON.stringify([job.links, told]));
  const collection = await curl(collectionUrl);
  assert.equal(collection.status, 200, JSON.stringify(collection.body));
  assert.equal(collection.body.id, job.jobID);
  const { body: items } = await curl(`${collectionUrl}/items`);
  assert.deepEqual(
    items.features.map(({ id }: { id: string }) => id),
    ["copy_20240601"],
  );
  const [item] = items.features;
  assert.equal(item.properties.datetime, "2024-06-01T00:00:00Z");
  const hrefs = new Map(item.links.map(({ rel, href }: { rel: string; href: string }) => [rel, href]));
  const made = await curl(String(hrefs.get("via")));
  assert.equal(made.body.jobID, job.jobID, "the item leads to its job");
  const cwl = await curl(String(hrefs.get("processing-expression")));
  assert.equal(cwl.status, 200, "and to the package");
  assert.ok(
    collection.body.links.some(
      ({ rel, href }: { rel: string; href: string }) =>
        rel === "derived_from" && href.endsWith("/inputs/scene_20240601.tif"),
    ),
    JSON.stringify(collection.body.links),
  );

  const dataAccess = new URL(collectionUrl).host.replace(/^resource-catalogue/, "data-access");
  const map = await curl(`http://${dataAccess}/collections/${job.jobID}/map?width=64&height=64&f=png`);
  assert.deepEqual([map.status, map.type], [200, "image/png"], JSON.stringify(map.body).slice(0, 500));

  const { body: listed } = await store(toUrl("objstore", `/${bucket}?list-type=2&prefix=processing-results/`));
  for (const [, key] of String(listed).matchAll(/<Key>([^<]+)<\/Key>/g)) {
    assert.equal((await store("-X", "DELETE", toUrl("objstore", `/${bucket}/${key}`))).status, 204);
  }
  await waitUntil("the removal", async () => (await curl(collectionUrl)).status === 404);
  assert.equal((await curl(`${collectionUrl}/items/copy_20240601`)).status, 404);
});
