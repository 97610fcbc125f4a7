// The conformance suite of the OCI distribution specification against our registry, with every API and kind of data that its latest
// version knows. Its program is built with Go from the module, or is the one that OCI_CONFORMANCE names.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { runCommand } from "@swath/testing";

import { createClient, createProject } from "../../components/registry/test/client.ts";
import { ADMIN_PASSWORD, startTestRegistry } from "../../components/registry/test/start-registry.ts";

const MODULE = "github.com/opencontainers/distribution-spec/conformance@main";

/** The suite's program, or why there is none. */
async function findProgram(folder: string): Promise<{ readonly program: string } | { readonly reason: string }> {
  const provided = process.env["OCI_CONFORMANCE"];
  if (provided !== undefined) {
    return existsSync(provided) ? { program: provided } : { reason: `OCI_CONFORMANCE=${provided} does not exist` };
  }
  const env = { ...process.env, GOBIN: folder, GOFLAGS: "-mod=mod" };
  const built = await runCommand("go", ["install", MODULE], { env }).catch((error: Error) => ({
    status: 1,
    stderr: error.message,
  }));
  return built.status === 0
    ? { program: join(folder, "conformance") }
    : { reason: `the Go module proxy does not give ${MODULE}: ${built.stderr.trim().split("\n").at(-1)}` };
}

// Images that lack layers are the one kind of data left out: here no manifest ever lacks a blob.
test("the conformance suite of OCI distribution", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "oci-suite-"));
  const found = await findProgram(folder);
  if ("reason" in found) {
    rmSync(folder, { recursive: true, force: true });
    t.skip(found.reason);
    return;
  }
  const registry = await startTestRegistry();
  try {
    await createProject(createClient(registry.url), "conformance");
    const { status, stdout, stderr } = await runCommand(found.program, [], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        OCI_REGISTRY: registry.host,
        OCI_TLS: "disabled",
        OCI_USERNAME: "admin",
        OCI_PASSWORD: ADMIN_PASSWORD,
        OCI_VERSION: "dev",
        OCI_DATA_SPARSE: "false",
      },
    });
    const failures = stdout.split("\n").filter((line) => /: +FAIL$/.test(line));
    assert.deepEqual(failures, [], stderr);
    assert.equal(status, 0, stdout.slice(-3000));
    const passed = Number(/Pass\.+:\s+(\d+)/.exec(stdout)?.[1]);
    assert.ok(passed > 900, `${passed} passed`);
    t.diagnostic(`${passed} passed`);
  } finally {
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
