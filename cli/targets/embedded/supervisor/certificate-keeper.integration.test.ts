// An authority looks for the response to HTTP-01 as soon as it is told of it; who orders before the ingress listens is refused.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createLogger } from "@swath/service/log";
import { waitUntil } from "@swath/testing";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { clusterPaths } from "../state/paths.ts";
import { CertificateKeeper } from "./certificate-keeper.ts";

test("no certificate is ordered by HTTP-01 before the ingress serves", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-keeper-"));
  let connections = 0;
  const authority = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(authority, "listening");
  const { port } = authority.address() as AddressInfo;
  let serves = false;
  const keeper = new CertificateKeeper({
    paths: clusterPaths("keeper", { SWATH_STATE_DIR: folder }),
    logger: createLogger("test", "silent"),
    onChange: () => {},
    isIngressServing: () => serves,
  });
  t.after(() => {
    keeper.close();
    authority.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { config } = resolveConfig({
    env: { USE_TLS: "true", ACME_DIRECTORY_URL: `https://127.0.0.1:${port}/directory` },
    args: { action: "apply", clusterName: "keeper", arg3: "eo.example.org", arg4: "127.0.0.1" },
    facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: false },
  });
  await keeper.ensure(createPlan(config, components));

  for (let count = 0; count < 5; count += 1) {
    keeper.tick();
    await sleep(20);
  }
  assert.equal(connections, 0);
  serves = true;
  await waitUntil("the authority is asked", () => {
    keeper.tick();
    return connections > 0;
  });
});
