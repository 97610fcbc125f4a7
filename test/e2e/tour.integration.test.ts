import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, runCommand } from "@swath/testing";

import { skipWithoutChromium } from "@swath/testing/chromium";

import { checkStory } from "./check-story.ts";
import { needsNotebook, skipReason, startBrowser } from "./hub/hub-fixture.ts";
import { runInKernel, runNotebooks } from "./hub/run-notebooks.ts";

// What deploy/simple/simple deploys, and the story that deploy/simple/tour lives on it; test/kubernetes/tour.kubernetes.test.ts is the same there.
const SIMPLE = join(import.meta.dirname, "../../deploy/simple");

/** What somebody types who writes an application package in a notebook server: look, run it there, run it on the platform. */
const COMMANDS = `
import json, subprocess
notebook = json.load(open("/run/swath/examples/4-write-and-deploy.ipynb"))
exec("".join(next(cell for cell in notebook["cells"] if "cwlVersion" in "".join(cell["source"]))["source"]).split("name =")[0])
open("words.cwl", "w").write(package)
for line in ("swath cwl validate words.cwl", "swath cwl run 'words.cwl#count-words' --text 'to be'", "swath run words.cwl text='or not'", "swath jobs", "git --version"):
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    print("$", line, done.returncode, done.stdout, done.stderr, sep="\\n")
`;

let cluster: TestCluster;
let closing: (() => Promise<void>) | undefined;
before(async () => {
  cluster = await createTestCluster({});
  closing = cluster.close;
  const { status, stdout, stderr } = await runCommand(join(SIMPLE, "simple"), [cluster.name, cluster.domain, "--yes"], {
    env: cluster.env,
  });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^Next, the whole of it in a minute: deploy\/simple\/tour test-\d+$/m);
});
after(() => closing?.());

test("the story: harvest, find, look, process, share, explore, change, and see it from elsewhere", async () => {
  await checkStory(cluster);
});

test(
  "the example notebooks run from the first cell to the last",
  { skip: skipWithoutChromium || skipReason(needsNotebook) },
  async () => {
    const { browser, open } = await startBrowser({
      hubUrl: `http://application-hub.${cluster.domain}:${cluster.port}`,
    });
    try {
      const { page } = await open("eric");
      await page.locator("#profile-notebook").check();
      await page.getByLabel(/^Name/).fill("classic");
      await page.getByRole("button", { name: "Start", exact: true }).click();
      await page.waitForURL((url) => url.host.startsWith("eric--classic."));
      await page.getByRole("link", { name: "examples" }).waitFor();
      const runs = await runNotebooks(page);
      assert.deepEqual(
        runs.map(({ error }) => error).filter((error) => error !== undefined),
        [],
      );
      const ends = runs.map(({ texts = [], kinds = [] }) => [texts.at(-1) ?? "", kinds.includes("image/png")] as const);
      assert.equal(ends.length, 5);
      const [look, series, job, words, result] = ends;
      assert.ok(look?.[1] && series?.[1] && result !== undefined, "bands and indices are shown as pictures");
      assert.match(job?.[0] ?? "", /hello from a notebook/);
      assert.match(words?.[0] ?? "", /stac|href/i);
      assert.match(result[0], /\{'least': -?[\d.]+,\s+'mean': -?[\d.]+,\s+'most': -?[\d.]+\}/);
      // Whoever writes packages has the platform's commands, in the name of the server's user.
      const typed = await runInKernel(page, COMMANDS);
      assert.match(typed, /words\.cwl is valid/i, typed);
      assert.match(typed, /"class": "File"/, typed);
      assert.match(typed, /successful/, typed);
      assert.match(typed, /^git version/m, typed);
    } finally {
      await browser.close();
    }
  },
);

test("the launcher does it all again, and says where to look", async () => {
  const { status, stdout, stderr } = await runCommand(join(SIMPLE, "tour"), [cluster.name], { env: cluster.env });
  assert.equal(status, 0, stdout + stderr);
  assert.deepEqual(
    [...stdout.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
  assert.match(stdout, /^eric\$ bin\/swath share ws-eric bob --remove$/m, "bob was in from the first time");
  assert.match(stdout, /answered 404/, "and may not look before he is let in again");
  assert.match(stdout, /the notebook +http:\/\/eric--notebook\./);
  assert.doesNotMatch(stdout, /changeme/);
});

test("where something is missing, it says so and what to do", async () => {
  const wanting = await runCommand(join(SIMPLE, "tour"), ["no-such-cluster"], { env: cluster.env });
  assert.equal(wanting.status, 1);
  assert.match(wanting.stderr, /there is no cluster "no-such-cluster"/);
  const { status, stdout, stderr } = await cluster.apply({
    REQUIRE_REGISTRY: "false",
    OPEN_INGRESS: "true",
    USE_TLS: "false",
  });
  assert.equal(status, 0, stdout + stderr);
  const lacking = await runCommand(join(SIMPLE, "tour"), [cluster.name], { env: cluster.env });
  assert.equal(lacking.status, 1);
  assert.match(lacking.stderr, /has no registry; the tour needs all components: deploy\/simple\/simple/);
});
