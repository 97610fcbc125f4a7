import assert from "node:assert/strict";

import { waitUntil } from "@swath/testing";

import type { TestResponse, Deployment } from "./deployment.ts";

const json = { "content-type": "application/json", accept: "application/json" };

/** What a user of the open processing service does, request by request. */
export interface Procedure {
  readonly send: (path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<TestResponse>;
  readonly deployPackage: (text: string) => Promise<void>;
  /** Starts a job; gives where its status is. */
  readonly execute: (process: string, title: string) => Promise<string>;
  /** Where a job's results went: the workspace of its user, once there is one. */
  readonly bucketOf: (job: string) => Promise<string>;
  /** The status of a job that has ended, well or badly. */
  readonly ended: (location: string) => Promise<{ jobID: string; status: string; message?: string }>;
}

export function openProcedure(getDeployment: () => Deployment): Procedure {
  const send: Procedure["send"] = (path, body, headers = {}) =>
    getDeployment().send("ades-open", path, {
      headers: { ...json, ...headers },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
  return {
    send,
    deployPackage: async (text) => {
      const href = `data:application/cwl;base64,${Buffer.from(text).toString("base64")}`;
      const deployed = await send("/eric/wps3/processes", { executionUnit: { href, type: "application/cwl" } });
      assert.equal(deployed.status, 201, deployed.text);
    },
    execute: async (process, title) => {
      const inputs = { inputs: { title }, response: "raw" };
      const started = await send(`/eric/wps3/processes/${process}/execution`, inputs, { prefer: "respond-async" });
      assert.equal(started.status, 201, started.text);
      const location = String(started.headers["location"]);
      assert.match(location, /^\/eric\/wps3\/jobs\/[0-9a-f-]{36}$/);
      return location;
    },
    bucketOf: async (job) => {
      const result = await send(`/eric/wps3/jobs/${job}/result`);
      return new URL(result.json().StacCatalogUri as string).host;
    },
    ended: (location) =>
      waitUntil(
        "the job has ended",
        async () => {
          const response = await send(location);
          const found = response.status === 200 ? response.json() : {};
          return ["successful", "failed"].includes(found.status) ? found : undefined;
        },
        300,
      ),
  };
}
