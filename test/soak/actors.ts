import { hash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { signRequest } from "../../cli/quick-procedure/sign-request.ts";
import type { Recorder } from "./record.ts";
import type { Visitor } from "./visitor.ts";

export interface Place {
  readonly visitor: Visitor;
  readonly recorder: Recorder;
  /** Address of a service: `url("portal", "/")`. */
  readonly url: (service: string, path: string) => string;
  readonly password: string;
}

/** One kind of user at work; `act` is one thing that they do. */
export interface Actor {
  readonly name: string;
  readonly pauseMs: number;
  readonly act: () => Promise<void>;
  /** Once nothing is killed any more: whether all that was acknowledged is there. */
  readonly settle: () => Promise<string>;
}

const USERS = ["eric", "bob", "alice"];
const BUCKET = "soak";
const KEYS = { accessKey: "swath", secretKey: "changeme", region: "us-east-1" };
const SECONDS_TO_SETTLE = 180;

/** Logs in, renews the login, uses it. */
export function createLoginActor({ visitor, recorder, url, password }: Place): Actor {
  const name = "login";
  const token = url("identity", "/realms/master/protocol/openid-connect/token");
  let turns = 0;
  const grant = (fields: Record<string, string>) =>
    visitor.ask(name, token, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ client_id: "admin-cli", scope: "openid", ...fields }).toString(),
    });
  return {
    name,
    pauseMs: 500,
    act: async () => {
      turns += 1;
      const username = USERS[turns % USERS.length] ?? "eric";
      const first = await grant({ grant_type: "password", username, password });
      if (first === undefined) {
        return;
      }
      if (first.status !== 200) {
        recorder.broken(`the login of ${username} was answered ${first.status}: ${first.text.slice(0, 200)}`);
        return;
      }
      const { refresh_token: refresh } = first.json() as { refresh_token: string };
      const second = await grant({ grant_type: "refresh_token", refresh_token: refresh });
      if (second !== undefined && second.status !== 200) {
        recorder.broken(`a fresh login of ${username} could not be renewed: ${second.text.slice(0, 200)}`);
      }
    },
    settle: async () => `${turns} logins`,
  };
}

/** Writes objects and reads older ones back. */
export function createUploadActor({ visitor, recorder, url }: Place): Actor {
  const name = "objects";
  const kept = new Map<string, string>();
  let hasBucket = false;
  const ask = async (method: string, path: string, body?: Buffer) => {
    const target = new URL(url("objstore", path));
    const headers = await signRequest(method, target, KEYS);
    return visitor.ask(name, target.href, { method, headers, ...(body && { body }) });
  };
  const check = async (key: string) => {
    const target = new URL(url("objstore", `/${BUCKET}/${key}`));
    const answer = await visitor.ask(name, target.href, { headers: await signRequest("GET", target, KEYS) });
    if (answer !== undefined && (answer.status !== 200 || hash("sha256", answer.text) !== kept.get(key))) {
      recorder.broken(`object ${key} was acknowledged, and is answered ${answer.status} with other content`);
    }
    return answer !== undefined;
  };
  return {
    name,
    pauseMs: 200,
    act: async () => {
      if (!hasBucket) {
        hasBucket = (await ask("PUT", `/${BUCKET}`)) !== undefined;
        return;
      }
      const key = `object-${kept.size}-${randomBytes(4).toString("hex")}`;
      const text = randomBytes(kept.size % 10 === 0 ? 300_000 : 2000).toString("hex");
      const answer = await ask("PUT", `/${BUCKET}/${key}`, Buffer.from(text));
      if (answer?.status === 200) {
        kept.set(key, hash("sha256", text));
      }
      const older = [...kept.keys()][Math.floor(Math.random() * kept.size)];
      if (older !== undefined) {
        await check(older);
      }
    },
    settle: async () => {
      for (const key of kept.keys()) {
        for (let attempt = 0; !(await check(key)); attempt += 1) {
          if (attempt === 20) {
            recorder.broken(`object ${key} could not be read at the end`);
            break;
          }
          await sleep(500);
        }
      }
      return `${kept.size} objects acknowledged, each read back at the end`;
    },
  };
}

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
export function createJobActor({ visitor, recorder, url }: Place): Actor {
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
        const answer = await visitor.ask(name, `${base}/processes`, {
          method: "POST",
          headers: { "content-type": "application/cwl" },
          body: PACKAGE,
        });
        // Deployed already when the answer to an earlier attempt was lost.
        process =
          answer?.status === 201 ? (answer.json() as { id: string }).id : answer?.status === 409 ? "soak" : undefined;
        return;
      }
      const answer = await visitor.ask(name, `${base}/processes/${process}/execution`, {
        method: "POST",
        headers: { ...json, prefer: "respond-async" },
        body: JSON.stringify({ inputs: { message: `number ${accepted.size}` } }),
      });
      if (answer?.status === 201) {
        accepted.add((answer.json() as { jobID: string }).jobID);
      } else if (answer !== undefined) {
        recorder.broken(`a job was not accepted: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
    },
    settle: async () => {
      const states = new Map<string, number>();
      const deadline = Date.now() + SECONDS_TO_SETTLE * 1000;
      for (const id of accepted) {
        let status = "unknown";
        do {
          const answer = await visitor.ask(name, `${base}/jobs/${id}`, { headers: json });
          if (answer?.status === 404) {
            recorder.broken(`job ${id} was accepted and is not known any more`);
            break;
          }
          const job = answer?.json() as { status: string; message?: string } | undefined;
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
            const answer = await visitor.ask(name, `${base}/jobs/${id}${part}`, {
              headers: part === "/logs" ? {} : json,
            });
            return `${part || "status"}: ${(answer?.text ?? "no answer").slice(-2000)}`;
          });
          recorder.broken(`job ${id} is still ${status} at the end\n${(await Promise.all(parts)).join("\n")}`);
        }
      }
      const counts = [...states].map(([status, count]) => `${count} ${status}`).join(", ");
      return `${accepted.size} jobs accepted: ${counts}`;
    },
  };
}

/** Looks around: lists, documents, the portal's page. */
export function createBrowseActor({ visitor, url }: Place): Actor {
  const name = "browse";
  const pages = [
    url("portal", "/"),
    url("ades-open", "/eric/ogc-api/processes"),
    url("ades-open", "/eric/ogc-api/jobs?limit=20"),
    url("identity", "/realms/master/.well-known/openid-configuration"),
    url("workspace-api-open", "/workspaces"),
    url("dummy-service-open", "/hello"),
  ];
  let turns = 0;
  return {
    name,
    pauseMs: 100,
    act: async () => {
      turns += 1;
      await visitor.ask(name, pages[turns % pages.length] ?? "");
    },
    settle: async () => `${turns} pages`,
  };
}
