// The story of deploy/simple/tour on a real cluster: the one that test/e2e/tour.integration.test.ts lives on one machine.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { checkStory } from "../e2e/check-story.ts";
import { type Deployment, NAME, openDeployment, findDeploymentSkipReason } from "./support/deployment.ts";

const missing = await findDeploymentSkipReason();
// The commands ask hosts by their names at port 80, which is led to the cluster's API.
const root = process.getuid?.() === 0 ? undefined : "listening on port 80 needs root";
/** An image that the cluster has, with the examples' tools (tools/node examples/image/main.ts podman builds it). */
const toolImage = process.env["SWATH_TEST_EXAMPLES_IMAGE"];
const noImage =
  toolImage === undefined
    ? "SWATH_TEST_EXAMPLES_IMAGE names no image of the examples' tools on the cluster"
    : undefined;
const skip = missing ?? root ?? noImage ?? false;

let deployment: Deployment | undefined;
before(async () => {
  if (skip === false) {
    deployment = await openDeployment(
      {
        USE_TLS: "false",
        OPEN_INGRESS: "true",
        STAGEOUT_TARGET: "objstore",
        IDENTITY_SERVICE_DEFAULT_SECRET: "changeme",
        IDENTITY_SERVICE_TEST_USERS: "true",
      },
      { publicIp: "127.0.0.1", forwardPort: 80 },
    );
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
    await deployment.port();
  }
});
after(() => deployment?.close());

test("the story, on Kubernetes", { skip }, async () => {
  assert.ok(deployment !== undefined);
  await checkStory({ name: NAME, env: deployment.env, ...(toolImage !== undefined && { toolImage }) });
});
