// The platform's commands inside of a server: files to and from the workspace's bucket, an image built without a builder, a package of it run.
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { runCommand } from "@swath/testing";
import { skipWithoutChromium } from "@swath/testing/chromium";

import { shellPackage } from "../../../components/ades/test/packages.ts";
import { type HubFixture, skipReason, startBrowser, startHub } from "./hub-fixture.ts";

const ROOT = join(import.meta.dirname, "../../..");
const skip =
  process.getuid?.() === 0
    ? skipWithoutChromium ||
      skipReason(
        ["/usr/bin/python3", "python3"],
        ["/usr/bin/podman", "podman"],
        ["/usr/sbin/runc", "runc"],
        ["/bin/busybox", "busybox-static"],
      )
    : "needs root, to run containers where limits cannot be raised";

/** What the server runs before it shows its home as files: each line's output is in a file of its number. */
const COMMANDS = [
  "swath cp notes.txt s3://ws-eric/from-server/",
  "swath cp -r s3://ws-eric/from-server back && cat back/notes.txt",
  "swath cp notes.txt s3://ws-bob/",
  "swath build base -t tools:1",
  "swath build greet -t greet:2 --build-arg WHO=server",
  "swath build broken -t broken:1",
  "swath push greet.cwl greet-package:1",
  "swath run greet.cwl name=World >out/job",
];
const SCRIPT = COMMANDS.map((line, index) => `(${line}) >out/${index} 2>&1; echo "status $?" >>out/${index}`).join(
  "\n",
);
const PROFILES = `profiles:
  - id: commands
    groups: ["*"]
    definition: { display_name: Commands, slug: commands, default: true, kubespawner_override: { cpu_limit: 2, mem_limit: 2G } }
    embedded:
      kind: program
      command: [sh, -c, "(sh ./all.sh; touch out/done) & exec python3 -m http.server {port} --bind 127.0.0.1"]
      base: root
      ready_path: ""
    egress: platform
`;

let hub: HubFixture;
let folder: string;
before(async () => {
  if (skip !== false) {
    return;
  }
  folder = mkdtempSync(join(tmpdir(), "swath-hub-commands-"));
  hub = await startHub({
    REQUIRE_OBJSTORE: "true",
    REQUIRE_WORKSPACE_API: "true",
    REQUIRE_REGISTRY: "true",
    REQUIRE_ADES: "true",
    CONTAINER_ENGINE: writeEngine(),
  });
  const { status, stderr } = await runCommand(
    join(ROOT, "deploy/bin/create-workspace"),
    ["-W", "eric", "--cluster", hub.cluster.name],
    { env: hub.cluster.env },
  );
  assert.equal(status, 0, stderr);
  assert.equal((await hub.api("admin", "PUT", "/swath/profiles", { text: PROFILES })).status, 200);
  writeHome();
});
after(async () => {
  await hub?.close();
  if (folder !== undefined) {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Podman with images and containers of this test alone, as it works where limits cannot be raised. */
function writeEngine(): string {
  const conf = join(folder, "containers.conf");
  writeFileSync(
    conf,
    '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\nevents_logger = "none"\ncgroup_manager = "cgroupfs"\n',
  );
  const path = join(folder, "podman");
  const places = `--storage-driver vfs --root ${join(folder, "storage")} --runroot ${join(folder, "run")}`;
  writeFileSync(path, `#!/bin/sh\nCONTAINERS_CONF=${conf} exec /usr/bin/podman ${places} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** What a user has in the home: two images to build, one on the other, and a package. */
function writeHome(): void {
  const home = join(hub.cluster.directory, "volumes/proc/application-hub/homes/eric");
  for (const name of ["out", "base/bin", "greet", "broken"]) {
    mkdirSync(join(home, name), { recursive: true });
  }
  copyFileSync("/bin/busybox", join(home, "base/bin/busybox"));
  symlinkSync("busybox", join(home, "base/bin/sh"));
  symlinkSync("busybox", join(home, "base/bin/cat"));
  const image = `registry.${hub.cluster.domain}:${hub.cluster.port}/ws-eric/greet:2`;
  for (const [name, text] of Object.entries({
    "notes.txt": "seen from a server\n",
    "all.sh": SCRIPT,
    "base/Containerfile": "FROM scratch\nCOPY bin /bin/\nENV PATH=/bin\n",
    "greet/says": "hello from an image,",
    "greet/Containerfile": 'FROM tools:1\nARG WHO\nENV WHO="$WHO"\nCOPY says /etc/says\n',
    "broken/Containerfile": "FROM tools:1\nRUN apt-get update\n",
    "greet.cwl": shellPackage("greet", 'cat /etc/says; echo " $1"', `{DockerRequirement: {dockerPull: "${image}"}}`),
  })) {
    writeFileSync(join(home, name), text);
  }
}

test(
  "files are copied, an image is built, pushed, and run, all in the name of the server's user",
  { skip },
  async () => {
    // Commands work with the login of who started the server.
    const { browser, open } = await startBrowser(hub);
    await open("eric");
    await browser.close();
    assert.ok(
      [201, 202].includes((await hub.api("eric", "POST", "/users/eric/server", { profile: "commands" })).status),
    );
    const read = async (name: string) =>
      hub.send("GET", `http://eric.${hub.hubHost}/out/${name}`, {
        headers: { authorization: `Bearer ${await hub.tokenOf("eric")}` },
      });
    for (let rounds = 0; (await read("done")).status !== 200; rounds += 1) {
      assert.ok(rounds < 600, "the commands have ended");
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    const out = await Promise.all(COMMANDS.map(async (_, index) => (await read(String(index))).text));
    const registry = `registry.${hub.cluster.domain}:${hub.cluster.port}/ws-eric`;
    assert.match(out[0] ?? "", /^s3:\/\/ws-eric\/from-server\/notes\.txt\nstatus 0\n$/);
    assert.match(out[1] ?? "", /seen from a server\nstatus 0\n$/);
    // The bucket of somebody else is the storage's to refuse, in its words.
    assert.match(out[2] ?? "", /the store refused.*\nstatus 1\n$/s);
    assert.match(out[3] ?? "", new RegExp(`COPY bin /bin/\n.*pushed, sha256:.*${registry}/tools:1\nstatus 0\n$`, "s"));
    assert.match(out[4] ?? "", new RegExp(`pushed, sha256:.*${registry}/greet:2\nstatus 0\n$`, "s"));
    assert.match(out[5] ?? "", /broken\/Containerfile, line 2: RUN needs a builder.*\nstatus 1\n$/s);
    assert.match(out[6] ?? "", new RegExp(`${registry}/greet-package:1\nstatus 0\n$`));
    assert.match(out[7] ?? "", /The job is done\.[\s\S]*status 0\n$/);
    const job = (await read("job")).text.trim();
    const results = await hub.send(
      "GET",
      `http://ades.${hub.cluster.domain}:${hub.cluster.port}/eric/ogc-api/jobs/${job}/results`,
      { headers: { authorization: `Bearer ${await hub.tokenOf("eric")}` } },
    );
    assert.match(results.text, /hello from an image, World/);
  },
);
