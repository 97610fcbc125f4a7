import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type TestAdes, startAdes } from "./start-ades.ts";

// Results of all users go to one bucket here: a job reads those of its own user's jobs, and nobody else's.
let ades: TestAdes;
before(async () => {
  ades = await startAdes({ env: { OPEN_HOST: "ades-open.swath.example" } });
});
after(() => ades.close());

const MAKE = {
  cwlVersion: "v1.2",
  class: "CommandLineTool",
  id: "make",
  baseCommand: ["echo", "a secret of mine"],
  stdout: "said.txt",
  inputs: {},
  outputs: { said: "stdout" },
};
const READ = {
  cwlVersion: "v1.2",
  class: "CommandLineTool",
  id: "read",
  baseCommand: "cat",
  stdout: "read.txt",
  inputs: { file: { type: "File", inputBinding: {} } },
  outputs: { copy: "stdout" },
};
const LIST = {
  cwlVersion: "v1.2",
  class: "CommandLineTool",
  id: "list",
  baseCommand: ["ls", "-R"],
  stdout: "list.txt",
  inputs: { folder: { type: "Directory", inputBinding: {} } },
  outputs: { listing: "stdout" },
};

async function execute(user: string, process: { readonly id: string }, inputs: object) {
  const base = `/${user}/ogc-api/processes`;
  const deployed = await ades.send(base, { text: JSON.stringify(process), type: "application/cwl+json" });
  assert.ok([201, 409].includes(deployed.status), JSON.stringify(deployed.body));
  return ades.send(`${base}/${process.id}/execution`, { json: { inputs }, headers: { prefer: "respond-async" } });
}

async function run(user: string, process: { readonly id: string }, inputs: object) {
  const started = await execute(user, process, inputs);
  assert.equal(started.status, 201, JSON.stringify(started.body));
  const location = started.headers.get("location") ?? "";
  return { location, job: await ades.ended(location) };
}

test("a job reads results of its user's own jobs, and nobody else's, by name or by folder", async () => {
  const made = await run("eric", MAKE, {});
  assert.equal(made.job.status, "successful", made.job.message);
  const { files } = (await ades.send(`${made.location}/files`)).body as { files: { path: string; href: string }[] };
  const said = files.find(({ path }) => path.endsWith("said.txt"));
  assert.ok(said !== undefined, JSON.stringify(files));
  const href = `s3://results/processing-results/${made.job.jobID}/${said.path}`;

  const own = await run("eric", READ, { file: { href, type: "text/plain" } });
  assert.equal(own.job.status, "successful", own.job.message);

  const byHttp = await run("eric", READ, { file: { href: `${ades.url}${said.href}`, type: "text/plain" } });
  assert.equal(byHttp.job.status, "successful", byHttp.job.message);

  const foreign = await execute("bob", READ, { file: { href, type: "text/plain" } });
  assert.equal(foreign.status, 403);
  assert.match(JSON.stringify(foreign.body), /is the result of a job that is not yours/);

  for (const folder of ["s3://results/processing-results/", `s3://results/processing-results/${made.job.jobID}/`]) {
    const { job, location } = await run("bob", LIST, { folder: { href: folder } });
    if (job.status === "successful") {
      const { files: listed } = (await ades.send(`${location}/files`)).body as {
        files: { href: string; path: string }[];
      };
      const listing = listed.find(({ path }) => path.endsWith("list.txt"));
      assert.doesNotMatch(String((await ades.send(listing?.href ?? "")).body), /said\.txt/);
    } else {
      assert.equal(job.status, "failed");
    }
  }

  const stolen = await ades.send("/bob/ogc-api/processes", {
    json: { executionUnit: { href, type: "application/cwl" } },
  });
  assert.equal(stolen.status, 400);
  assert.match(JSON.stringify(stolen.body), /is the result of a job that is not yours/);
});

test("refuses a request whose inputs the job could not read: buckets of others, private addresses", async () => {
  for (const [href, detail] of [
    ["s3://scenes/L2A/scene.txt", /the bucket "scenes" is not one that you can read here \(results\)/],
    ["s3://scenes/L2A/", /the bucket "scenes" is not one that you can read here \(results\)/],
    ["s3://scenes", /write s3:\/\/bucket\/key/],
    ["http://169.254.169.254/latest/meta-data", /is a private address/],
  ] as const) {
    const [process, name] = href.endsWith("/") ? [LIST, "folder"] : [READ, "file"];
    const { status, body } = await execute("eric", process, { [name]: { href } });
    const problem = body as { readonly title: string; readonly detail: string };
    assert.deepEqual([status, problem.title], [403, "InputNotReadable"], JSON.stringify(body));
    assert.match(problem.detail, detail);
  }
});

test("addresses of results are good inputs on both hosts: a file, one output, all of a job; and not of others' jobs", async () => {
  const made = await run("eric", MAKE, {});
  const path = new URL(made.location, ades.url).pathname;
  const { files } = (await ades.send(`${path}/files`)).body as { files: { path: string; href: string }[] };
  const said = files.find((file) => file.path.endsWith("said.txt"));
  const file = new URL(said?.href ?? "", ades.url).pathname;
  for (const host of [ades.url, "http://ades-open.swath.example:8080", "https://ades-open.swath.example"]) {
    for (const href of [`${host}${file}`, `${host}${path}/results/said`]) {
      const read = await run("eric", READ, { file: { href, type: "text/plain" } });
      assert.equal(read.job.status, "successful", `${href}: ${read.job.message}`);
      assert.equal(String((await ades.send(`${read.location}/results/copy`)).body).trim(), "a secret of mine");
    }
    const all = await run("eric", LIST, { folder: { href: `${host}${path}/results` } });
    assert.equal(all.job.status, "successful", `${host}${path}/results: ${all.job.message}`);
    const foreign = await execute("bob", READ, { file: { href: `${host}${file}`, type: "text/plain" } });
    assert.equal(foreign.status, 403, `another's result at ${host}`);
    assert.match(JSON.stringify(foreign.body), /is no result of a job of yours that has ended/);
    const unknown = await execute("eric", READ, { file: { href: `${host}/eric/ogc-api/jobs/none/results/said` } });
    assert.equal(unknown.status, 403, `no job at ${host}`);
  }
});

test("directories of a scatter are one collection whose link root is the catalogue", async () => {
  const text = `cwlVersion: v1.2
$graph:
  - class: Workflow
    id: several
    requirements: { ScatterFeatureRequirement: {} }
    inputs: { names: "string[]" }
    steps: { run: { run: "#tool", scatter: name, in: { name: names }, out: [folder] } }
    outputs: { folders: { type: "Directory[]", outputSource: run/folder } }
  - class: CommandLineTool
    id: tool
    baseCommand: [sh, -c, 'mkdir "$0" && echo "$0" > "$0/$0.txt"']
    inputs: { name: { type: string, inputBinding: { position: 1 } } }
    outputs: { folder: { type: Directory, outputBinding: { glob: $(inputs.name) } } }
`;
  const deployed = await ades.send("/eric/ogc-api/processes", { text, type: "application/cwl" });
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
  const { status, body } = await ades.send("/eric/ogc-api/processes/several/execution", {
    json: { inputs: { names: ["one", "two"] } },
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.type, "Collection", JSON.stringify(body).slice(0, 300));
  const root = (body.links as { rel: string; href: string }[]).find(({ rel }) => rel === "root");
  assert.match(root?.href ?? "", /^s3:\/\/results\/processing-results\/.*\/catalog\.json$/);
  assert.equal(Object.keys(body.assets as object).length, 2, JSON.stringify(body.assets));
});

test("results say what they were made of and by what", async () => {
  const { location } = await run("eric", MAKE, {});
  const { files } = (await ades.send(`${location}/files`)).body as { files: { path: string; href: string }[] };
  const href = new URL(files.find(({ path }) => path.endsWith("said.txt"))?.href ?? "", ades.url).href;
  const read = await run("eric", READ, { file: { href, type: "text/plain" } });
  const { body } = await ades.send(`${read.location}/results/copy`);
  assert.equal(String(body).trim(), "a secret of mine");
  const { files: made } = (await ades.send(`${read.location}/files`)).body as {
    files: { path: string; href: string }[];
  };
  const collection = (await ades.send(made.find(({ path }) => path.endsWith("collection.json"))?.href ?? "")).body;
  const links = collection.links as { rel: string; href: string }[];
  assert.ok(
    links.some(({ rel, href: from }) => rel === "derived_from" && from.endsWith("said.txt")),
    JSON.stringify(links),
  );
  assert.deepEqual(collection.summaries["processing:software"], [{ read: "1.0.0" }]);
  assert.ok((collection.stac_extensions as string[]).some((url) => url.includes("/processing/")));
});
