import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { runCommand } from "@swath/testing";
import { mustKubectl } from "@swath/testing/kubernetes";

import { attackContainer } from "../../sandbox/attack-container.ts";

// Its name tells it what it is.
const BUSYBOX = "/tmp/busybox";
/** Where the nodes of a test's cluster keep volumes; a pod sees its own alone. */
const AROUND = "/tmp";

/** Runs the table of attacks in a container of a pod, which has Node.js. Brings the programs for it: the image has next to none. */
export async function attackPod(namespace: string, pod: string, container: string): Promise<void> {
  const exec = async (command: readonly string[], input?: string): Promise<string> => {
    const { stdout, stderr } = await runCommand(
      "kubectl",
      ["exec", ...(input === undefined ? [] : ["-i"]), "-n", namespace, pod, "-c", container, "--", ...command],
      // oxlint-disable-next-line node/no-process-env -- kubectl finds its cluster by it
      { env: process.env, ...(input !== undefined && { input }) },
    );
    return `${stdout}${stderr}`;
  };
  const bring = `let all = ""; process.stdin.setEncoding("latin1").on("data", (part) => (all += part)).on("end", () =>
    require("node:fs").writeFileSync("${BUSYBOX}", Buffer.from(all, "base64"), { mode: 0o755 }))`;
  const said = await exec(["node", "-e", bring], readFileSync("/bin/busybox").toString("base64"));
  if (said !== "") {
    throw new Error(`busybox could not be brought into ${namespace}/${pod}: ${said}`);
  }
  await attackContainer((command) => exec(command), { busybox: BUSYBOX, around: AROUND, hasNetwork: true });
}

/** Checks that a program in a container of a pod finds no login of the cluster. */
export async function checkHasNoToken(namespace: string, pod: string, container: string): Promise<void> {
  const look = "fs.existsSync('/var/run/secrets/kubernetes.io/serviceaccount/token')";
  const seen = await mustKubectl(["exec", "-n", namespace, pod, "-c", container, "--", "node", "-p", look]);
  assert.equal(seen.trim(), "false", "a tool has no login of the cluster");
}
