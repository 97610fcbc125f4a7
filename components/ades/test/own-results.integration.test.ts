import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type TestAdes, startAdes } from "./start-ades.ts";

// Results of all users go to one bucket here: a job reads those of its own user's jobs, and nobody else's.
let ades: TestAdes;
before(async () => {
  ades = await startAdes();
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

async function run(user: string, process: { readonly id: string }, inputs: object) {
  const base = `/${user}/ogc-api/processes`;
  const deployed = await ades.ask(base, { text: JSON.stringify(process), type: "application/cwl+json" });
  assert.ok([201, 409].includes(deployed.status), JSON.stringify(deployed.body));
  const started = await ades.ask(`${base}/${process.id}/execution`, {
    json: { inputs },
    headers: { prefer: "respond-async" },
  });
  assert.equal(started.status, 201, JSON.stringify(started.body));
  const location = started.headers.get("location") ?? "";
  return { location, job: await ades.ended(location) };
}

test("a job reads results of its user's own jobs, and nobody else's, by name or by folder", async () => {
  const made = await run("eric", MAKE, {});
  assert.equal(made.job.status, "successful", made.job.message);
  const { files } = (await ades.ask(`${made.location}/files`)).body as { files: { path: string; href: string }[] };
  const said = files.find(({ path }) => path.endsWith("said.txt"));
  assert.ok(said !== undefined, JSON.stringify(files));
  const href = `s3://results/processing-results/${made.job.jobID}/${said.path}`;

  const own = await run("eric", READ, { file: { href, type: "text/plain" } });
  assert.equal(own.job.status, "successful", own.job.message);

  const byHttp = await run("eric", READ, { file: { href: `${ades.url}${said.href}`, type: "text/plain" } });
  assert.equal(byHttp.job.status, "successful", byHttp.job.message);

  const foreign = await run("bob", READ, { file: { href, type: "text/plain" } });
  assert.equal(foreign.job.status, "failed");
  assert.match(foreign.job.message, /is the result of a job that is not yours/);

  for (const folder of ["s3://results/processing-results/", `s3://results/processing-results/${made.job.jobID}/`]) {
    const { job, location } = await run("bob", LIST, { folder: { href: folder } });
    if (job.status === "successful") {
      const { files: listed } = (await ades.ask(`${location}/files`)).body as {
        files: { href: string; path: string }[];
      };
      const listing = listed.find(({ path }) => path.endsWith("list.txt"));
      assert.doesNotMatch(String((await ades.ask(listing?.href ?? "")).body), /said\.txt/);
    } else {
      assert.equal(job.status, "failed");
    }
  }

  const stolen = await ades.ask("/bob/ogc-api/processes", {
    json: { executionUnit: { href, type: "application/cwl" } },
  });
  assert.equal(stolen.status, 400);
  assert.match(JSON.stringify(stolen.body), /is the result of a job that is not yours/);
});
