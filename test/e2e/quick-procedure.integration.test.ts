// Needs: curl
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, dummyServiceOnly, runCommand, waitUntil } from "@swath/testing";

import { buildImage } from "../../examples/image/build.ts";
import { compareWithGdal, findGdalSkipReason } from "./compare-ndvi.ts";

// The quick procedure of the simple local deployment: list, deploy, details, execute, status, result, list jobs, by curl.
const VARIABLES = {
  ...dummyServiceOnly,
  USE_TLS: "false",
  OPEN_INGRESS: "true",
  REQUIRE_DUMMY_SERVICE: "false",
  REQUIRE_ADES: "true",
  REQUIRE_OBJSTORE: "true",
  STAGEOUT_TARGET: "objstore",
};
const findPodmanSkipReason = !["/usr/bin/podman", "/usr/sbin/runc"].every((program) => existsSync(program))
  ? "podman or runc is not installed (Debian packages podman, runc)"
  : undefined;
const EXAMPLES = join(import.meta.dirname, "../../examples");

let cluster: TestCluster;
before(async () => {
  cluster = await createTestCluster(VARIABLES);
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});
after(() => cluster.close());

const url = (service: string, path: string) => `http://${service}.${cluster.domain}:${cluster.port}${path}`;
async function curl(...args: readonly string[]) {
  const { stdout, stderr, status } = await runCommand("curl", ["-sS", "-i", "-H", "accept: application/json", ...args]);
  assert.equal(status, 0, stderr);
  const [head = "", ...rest] = stdout.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  return {
    status: Number(head.split(" ")[1]),
    location: /^location: *(.+)$/im.exec(head)?.[1]?.trim() ?? "",
    // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
    body: (body === "" ? undefined : JSON.parse(body)) as any,
  };
}
const json = ["-H", "content-type: application/json"];

const sign = [
  "--aws-sigv4",
  "aws:amz:us-east-1:s3",
  "--user",
  "swath:changeme",
  "-sS",
  "-f",
  "-H",
  "x-amz-content-sha256: UNSIGNED-PAYLOAD",
];

/** Puts the scene where a job can find it, with the root user's keys, as an operator would. */
async function upload(): Promise<void> {
  const folder = join(EXAMPLES, "scenes/lommel");
  const put = async (path: string, ...args: readonly string[]) => {
    const { status, stderr } = await runCommand("curl", [...sign, "-X", "PUT", url("objstore", path), ...args]);
    assert.equal(status, 0, stderr);
  };
  await put("/results");
  for (const name of readdirSync(folder)) {
    await put(`/results/scenes/lommel/${name}`, "--data-binary", `@${join(folder, name)}`);
  }
}

test("the quick procedure, with a calculation on a real scene", async () => {
  await upload();
  const processes = url("ades-open", "/eric/wps3/processes");
  const before = await curl(processes);
  assert.deepEqual(
    before.body.processes.map(({ id }: { id: string }) => id),
    ["echo"],
  );

  const text = readFileSync(join(EXAMPLES, "packages/s-expression.cwl"));
  const href = `data:application/cwl;base64,${text.toString("base64")}`;
  const deployed = await curl(
    processes,
    ...json,
    "-d",
    JSON.stringify({ executionUnit: { href, type: "application/cwl" } }),
  );
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));

  const details = await curl(`${processes}/s-expression`);
  assert.deepEqual(Object.keys(details.body.inputs).toSorted(), ["input_reference", "s_expression"]);

  const started = await curl(
    `${processes}/s-expression/execution`,
    ...json,
    "-H",
    "prefer: respond-async",
    "-d",
    JSON.stringify({
      inputs: {
        input_reference: "s3://results/scenes/lommel/item.json",
        s_expression: "ndvi:(/ (- nir red) (+ nir red))",
      },
      response: "raw",
    }),
  );
  assert.equal(started.status, 201, JSON.stringify(started.body));
  assert.match(started.location, /^\/eric\/wps3\/jobs\/[0-9a-f-]{36}$/);

  const job = await waitUntil(
    "the job has ended",
    async () => {
      const { body } = await curl(url("ades-open", started.location));
      return ["successful", "failed"].includes(body.status) ? body : undefined;
    },
    120,
  );
  assert.equal(job.status, "successful", job.message);

  const result = await curl(url("ades-open", `${started.location}/result`));
  assert.equal(result.body.StacCatalogUri, `s3://results/processing-results/${job.jobID}/catalog.json`);
  const jobs = await curl(url("ades-open", "/eric/wps3/jobs"));
  assert.deepEqual(
    jobs.body.jobs.map(({ jobID }: { jobID: string }) => jobID),
    [job.jobID],
  );
});

/** The index of a job's only scene, as it lies in the object storage, beside GDAL's own. */
async function compare(location: string, asset: string) {
  const { body: collection } = await curl(url("ades-open", `${location.replace("wps3", "ogc-api")}/results`));
  type Links = readonly { readonly rel: string; readonly href: string }[];
  const linkOf = (links: Links, rel: string) => links.find((link) => link.rel === rel)?.href ?? "";
  const readStored = async (href: string) => {
    const { stdout } = await runCommand("curl", [...sign, "-sS", "-f", url("objstore", href.slice("s3:/".length))]);
    return JSON.parse(stdout) as { readonly links: Links; readonly assets: Record<string, { href: string }> };
  };
  const catalog = await readStored(linkOf(collection.links as Links, "root"));
  const stored = await readStored(linkOf(catalog.links, "child"));
  const { assets } = await readStored(linkOf(stored.links, "item"));
  return compareWithGdal({
    href: assets[asset]?.href ?? "",
    host: `objstore.${cluster.domain}:${cluster.port}`,
    accessKey: "swath",
    secretKey: "changeme",
    nir: join(EXAMPLES, "scenes/lommel/B08.tif"),
    red: join(EXAMPLES, "scenes/lommel/B04.tif"),
  });
}

test("the result is GDAL's own calculation, pixel by pixel", { skip: findGdalSkipReason }, async () => {
  const jobs = await curl(url("ades-open", "/eric/wps3/jobs"));
  const location = `/eric/wps3/jobs/${jobs.body.jobs[0].jobID}`;
  assert.deepEqual(await compare(location, "ndvi"), { maximum: 0, validPercent: 100 });
});

test(
  "a package that demands a container runs in it, with the same result",
  { skip: findPodmanSkipReason ?? findGdalSkipReason },
  async (t) => {
    const env = { PATH: "/usr/bin:/bin:/usr/sbin", HOME: cluster.env["HOME"] ?? "/root" };
    const image = "localhost/swath-examples:1.0.0";
    const exists = (await runCommand("podman", ["image", "exists", image], { env })).status === 0;
    t.after(() => (exists ? undefined : runCommand("podman", ["rmi", image], { env })));
    assert.equal(exists ? image : buildImage("podman", env), image);
    const text = readFileSync(join(EXAMPLES, "packages/ndvi.cwl"), "utf8")
      .replaceAll("    hints:\n      DockerRequirement", "    requirements:\n      DockerRequirement")
      .replaceAll('1.0.0" }\n    requirements:\n', '1.0.0" }\n')
      .replace("id: ndvi\n", "id: ndvi-contained\n");
    const href = `data:application/cwl;base64,${Buffer.from(text).toString("base64")}`;
    const deployed = await curl(
      url("ades-open", "/eric/wps3/processes"),
      ...json,
      "-d",
      JSON.stringify({ executionUnit: { href, type: "application/cwl" } }),
    );
    assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
    const started = await curl(
      url("ades-open", "/eric/wps3/processes/ndvi-contained/execution"),
      ...json,
      "-H",
      "prefer: respond-async",
      "-d",
      JSON.stringify({ inputs: { scenes: [{ href: "s3://results/scenes/lommel/item.json" }] } }),
    );
    assert.equal(started.status, 201, JSON.stringify(started.body));
    const job = await waitUntil(
      "the job has ended",
      async () => {
        const { body } = await curl(url("ades-open", started.location));
        return ["successful", "failed"].includes(body.status) ? body : undefined;
      },
      180,
    );
    assert.equal(job.status, "successful", job.message);
    assert.deepEqual(await compare(started.location, "ndvi"), { maximum: 0, validPercent: 100 });
  },
);

test("the launcher shows the same as requests to type, and says where the result is", async () => {
  const launcher = join(EXAMPLES, "../deploy/simple/quick-procedure");
  const { status, stdout, stderr } = await runCommand(launcher, [cluster.name], { env: cluster.env });
  assert.equal(status, 0, stdout + stderr);
  assert.deepEqual(
    [...stdout.matchAll(/^\d+\. (.+)$/gm)].map(([, title]) => title),
    [
      "Put a scene and an application package into the object store, where the service finds them",
      "List the processes",
      "Deploy the application package",
      "What does it take?",
      "Execute it",
      "How is it doing?",
      "Where is the result?",
      "List the jobs",
    ],
  );
  assert.match(stdout, /\$ curl .*\/eric\/wps3\/processes\n200\n/);
  assert.match(stdout, /Its result is a STAC catalogue, s3:\/\/results\/processing-results\/[0-9a-f-]+\/catalog\.json/);
  assert.doesNotMatch(stdout, /changeme/, "no password is shown");

  const again = await runCommand(launcher, [cluster.name], { env: cluster.env });
  assert.equal(again.status, 0, again.stdout + again.stderr);
  assert.doesNotMatch(again.stdout, /Deploy the application package/, "it is there already");
});
