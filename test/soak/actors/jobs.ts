import { setTimeout as sleep } from "node:timers/promises";

import type { Actor, Place } from "./actor.ts";

const SECONDS_TO_SETTLE = 180;
const PACKAGE = `cwlVersion: v1.2
$graph:
  - class: Workflow
    id: soak
    label: Says it again
    inputs: { message: string }
    outputs: { said: { type: File, outputSource: say/said } }
    steps:
      say: { run: "#say", in: { message: message }, out: [said] }
  - class: CommandLineTool
    id: say
    baseCommand: [sh, -c, 'sleep 0.2; echo "$0"']
    stdout: said.txt
    inputs: { message: { type: string, inputBinding: {} } }
    outputs: { said: { type: stdout } }
`;

/** Deploys a package and runs jobs; every job that was accepted must end, once, and successfully. */
export function createJobActor({ virtualUser, recorder, url }: Place): Actor {
  const name = "jobs";
  const base = url("ades-open", "/eric/ogc-api");
  const accepted = new Set<string>();
  let process: string | undefined;
  const json = { accept: "application/json", "content-type": "application/json" };
  return {
    name,
    pauseMs: 1500,
    act: async () => {
      if (process === undefined) {
        const response = await virtualUser.send(name, `${base}/processes`, {
          method: "POST",
          headers: { "content-type": "application/cwl" },
          body: PACKAGE,
        });
        // Deployed already when the answer to an earlier attempt was lost.
        process =
          response?.status === 201
            ? (response.json() as { id: string }).id
            : response?.status === 409
              ? "soak"
              : undefined;
        return;
      }
      const response = await virtualUser.send(name, `${base}/processes/${process}/execution`, {
        method: "POST",
        headers: { ...json, prefer: "respond-async" },
        body: JSON.stringify({ inputs: { message: `number ${accepted.size}` } }),
      });
      if (response?.status === 201) {
        accepted.add((response.json() as { jobID: string }).jobID);
      } else if (response !== undefined) {
        recorder.broken(`a job was not accepted: ${response.status} ${response.text.slice(0, 200)}`);
      }
    },
    settle: async () => {
      const states = new Map<string, number>();
      const deadline = Date.now() + SECONDS_TO_SETTLE * 1000;
      for (const id of accepted) {
        let status = "unknown";
        do {
          const response = await virtualUser.send(name, `${base}/jobs/${id}`, { headers: json });
          if (response?.status === 404) {
            recorder.broken(`job ${id} was accepted and is not known any more`);
            break;
          }
          const job = response?.json() as { status: string; message?: string } | undefined;
          status = job?.status ?? status;
          if (["successful", "failed", "dismissed"].includes(status)) {
            if (status !== "successful") {
              recorder.broken(`job ${id} ${status}: ${job?.message}`);
            }
            break;
          }
          await sleep(500);
        } while (Date.now() < deadline);
        states.set(status, (states.get(status) ?? 0) + 1);
        if (status === "accepted" || status === "running") {
          // All that is known of how it went, to find out why.
          const parts = ["", "/steps", "/notifications", "/logs"].map(async (part) => {
            const response = await virtualUser.send(name, `${base}/jobs/${id}${part}`, {
              headers: part === "/logs" ? {} : json,
            });
            return `${part || "status"}: ${(response?.text ?? "no answer").slice(-2000)}`;
          });
          recorder.broken(`job ${id} is still ${status} at the end\n${(await Promise.all(parts)).join("\n")}`);
        }
      }
      const counts = [...states].map(([status, count]) => `${count} ${status}`).join(", ");
      return `${accepted.size} jobs accepted: ${counts}`;
    },
  };
}
