import assert from "node:assert/strict";
import { test } from "node:test";

import type { ClusterApi } from "@swath/kubernetes/api";
import { waitUntil } from "@swath/testing";

import { parseCores, parseDuration, sampleUsage } from "./sample-usage.ts";

test("amounts and durations as the metrics API writes them", () => {
  assert.deepEqual(["1500000n", "250u", "12m", "2", "0"].map(parseCores), [0.0015, 0.00025, 0.012, 2, 0]);
  assert.deepEqual(["15.013s", "1m0s", "1h0m0.5s", "500ms"].map(parseDuration), [15.013, 60, 3600.5, 0.5]);
});

/** A cluster that answers with these, one after the other, and then with the last again. */
function openMetrics(answers: readonly (object | Error | undefined)[]) {
  const asked: string[] = [];
  const api = {
    get: async (path: string) => {
      const answer = answers[Math.min(asked.push(path), answers.length) - 1];
      if (answer instanceof Error) {
        throw answer;
      }
      return answer;
    },
  } as unknown as ClusterApi;
  return { api, asked };
}
const sampleOf = (timestamp: string, cpu: string, memory: string, window = "15s") => ({
  timestamp,
  window,
  containers: [
    { name: "collect", usage: { cpu: "9", memory: "9Gi" } },
    { name: "tool", usage: { cpu, memory } },
  ],
});

test("processor time is the mean of the samples for the whole time, memory the most; a sample counts once", async () => {
  const first = sampleOf("2026-01-01T00:00:15Z", "500m", "100Mi");
  const { api, asked } = openMetrics([undefined, first, first, sampleOf("2026-01-01T00:00:45Z", "2", "80Mi", "30s")]);
  const sampler = sampleUsage(api, "zoo", "p", 1);
  await waitUntil("all samples are taken", async () => asked.length >= 5, 10);
  sampler.stop();
  assert.equal(asked[0], "/apis/metrics.k8s.io/v1beta1/namespaces/zoo/pods/p");
  assert.deepEqual(sampler.read(60), { cpuSeconds: 90, peakMemoryBytes: 100 * 2 ** 20 });
});

test("a cluster without metrics, or that refuses them, says nothing of use", async () => {
  for (const answer of [undefined, new Error("forbidden")]) {
    const { api, asked } = openMetrics([answer]);
    const sampler = sampleUsage(api, "zoo", "p", 1);
    await waitUntil("it was asked", async () => asked.length >= 2, 10);
    sampler.stop();
    assert.deepEqual(sampler.read(60), {});
  }
});
