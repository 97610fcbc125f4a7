// Clients of others against the processing service: Debian's owslib, and one that is made of the OpenAPI document.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { runCommand } from "@swath/testing";
import { type Document, OpenAPIClientAxios } from "openapi-client-axios";

import { type TestAdes, startAdes } from "./start-ades.ts";

const OWSLIB = "/usr/lib/python3/dist-packages/owslib";
let ades: TestAdes;
before(async () => {
  ades = await startAdes();
});
after(() => ades.close());

test(
  "owslib's ogcapi.processes",
  { skip: !existsSync(OWSLIB) && "Debian's package python3-owslib is missing" },
  async () => {
    for (const apiFlavor of ["ogc-api", "wps3"]) {
      const script = join(import.meta.dirname, "owslib-client.py");
      const { stdout, stderr, status } = await runCommand("/usr/bin/python3", [
        script,
        `${ades.url}/eric/${apiFlavor}`,
      ]);
      assert.equal(status, 0, stderr);
      const seen = JSON.parse(stdout) as {
        conformsTo: string[];
        openapi: string;
        processes: string[];
        inputs: string[];
      };
      assert.ok(seen.conformsTo.includes("http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/core"));
      assert.match(seen.openapi, /^3\.0\./);
      assert.deepEqual(seen.processes, ["echo"]);
      assert.equal(seen.inputs.length, 12);
    }
  },
);

test("a client made of the OpenAPI document, 3.0 and 3.1", async () => {
  for (const version of ["3.0", "3.1"]) {
    const definition = (await (await fetch(`${ades.url}/bob/ogc-api/api?v=${version}`)).json()) as Document;
    const api = new OpenAPIClientAxios({ definition, axiosConfigDefaults: { adapter: "fetch" } });
    const client = await api.init();
    const call = (operation: string, parameters?: object, body?: unknown, config?: object) => {
      const method = client[operation];
      assert.ok(method, `the document has no ${operation}`);
      return method(parameters as never, body as never, config as never);
    };
    assert.equal((await call("getLandingPage")).status, 200);
    assert.deepEqual((await call("getProcesses", { limit: 1 })).data.processes[0].id, "echo");
    assert.equal((await call("getProcessDescription", { id: "echo" })).data.mutable, false);
    const body = { inputs: { stringInput: "Value1" }, response: "document" };
    assert.deepEqual((await call("execute", { id: "echo" }, body)).data, { stringOutput: "Value1" });
    const started = await call("execute", { id: "echo" }, body, { headers: { prefer: "respond-async" } });
    assert.equal(started.status, 201);
    const { jobID: id } = started.data as { jobID: string };
    assert.equal((await call("getStatus", { id })).data.status, "successful");
    assert.deepEqual((await call("getResults", { id })).data, { stringOutput: "Value1" });
    const { data } = await call("getJobs", { status: ["successful"], limit: 1 });
    assert.equal(data.jobs[0].jobID, id);
    assert.equal((await call("dismiss", { id })).data.status, "dismissed");
    const unit = { value: "cwlVersion: v1.2\nclass: Workflow\nid: made\ninputs: {}\noutputs: {}\nsteps: []\n" };
    const json = { headers: { "content-type": "application/json" } };
    assert.equal((await call("deployProcess", {}, { executionUnit: unit }, json)).status, 201);
    assert.equal((await call("undeployProcess", { id: "made" })).status, 204);
  }
});
