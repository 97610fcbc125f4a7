import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { findContainerEngine } from "./find-container-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "swath-engines-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function install(...names: readonly string[]): string {
  const path = mkdtempSync(join(folder, "bin-"));
  for (const name of names) {
    writeFileSync(join(path, name), "", { mode: 0o755 });
  }
  return path;
}

test("auto takes podman before docker, and either one alone", () => {
  const both = install("docker", "podman");
  assert.deepEqual(findContainerEngine("auto", both), {
    outcome: "found",
    engine: { command: join(both, "podman"), kind: "podman" },
  });
  const docker = install("docker");
  assert.deepEqual(findContainerEngine("auto", docker), {
    outcome: "found",
    engine: { command: join(docker, "docker"), kind: "docker" },
  });
});

test("a name or a path asks for one engine and takes no other", () => {
  const path = install("podman", "docker-27");
  const named = findContainerEngine("docker", path);
  assert.equal(named.outcome, "missing");
  assert.match(named.outcome === "missing" ? named.reason : "", /CONTAINER_ENGINE is docker, which is not installed/);
  assert.deepEqual(findContainerEngine(join(path, "docker-27"), install()), {
    outcome: "found",
    engine: { command: join(path, "docker-27"), kind: "docker" },
  });
});

test("tells an engine that is not wanted from one that is not there", () => {
  assert.deepEqual(findContainerEngine("none", install("podman")), { outcome: "unwanted" });
  assert.deepEqual(findContainerEngine("auto", install()), {
    outcome: "missing",
    reason: "none of podman, docker is installed",
    wasRequested: false,
  });
});
