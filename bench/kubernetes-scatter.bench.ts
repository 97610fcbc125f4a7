import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";

import { type Pod, containerState, hasEnded } from "../components/ades/execution/kubernetes/pod-types.ts";
import { podsPath } from "../components/ades/execution/kubernetes/watch-pod.ts";
import {
  type ObjectFiles,
  findObjectFilesSkipReason,
  startObjectFiles,
} from "../components/ades/execution/kubernetes/test/object-files.ts";
import {
  IMAGE,
  type PodFixture,
  USER,
  findPodsSkipReason,
  startPodFixture,
} from "../components/ades/execution/kubernetes/test/pod-fixture.ts";
import type { PodRun, PodRunResult } from "../components/ades/execution/kubernetes/test/run-tool.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const WIDTH = Number(process.env["SWATH_BENCH_WIDTH"] ?? 500);
const AT_ONCE = 8;
/** Seconds of each tool. */
const SLEEP = 2;

/** One step makes a file that all read, and each leaves one. */
const SCATTER = JSON.stringify({
  cwlVersion: "v1.2",
  $graph: [
    {
      class: "Workflow",
      id: "main",
      requirements: { ScatterFeatureRequirement: {} },
      inputs: { numbers: "int[]" },
      steps: {
        make: { run: "#make", in: {}, out: ["common"] },
        each: {
          run: "#each",
          scatter: "number",
          in: { number: "numbers", common: "make/common" },
          out: ["printed"],
        },
      },
      outputs: { printed: { type: "File[]", outputSource: "each/printed" } },
    },
    toolOf("make", "head -c 1000000 /dev/urandom >common", {
      inputs: {},
      outputs: { common: { type: "File", outputBinding: { glob: "common" } } },
    }),
    toolOf("each", `sleep ${SLEEP}; wc -c <"$1"; echo "$0"`, {
      inputs: {
        number: { type: "int", inputBinding: { position: 1 } },
        common: { type: "File", inputBinding: { position: 2 } },
      },
      stdout: "printed.txt",
      outputs: { printed: { type: "stdout" } },
    }),
  ],
});

function toolOf(id: string, script: string, more: object): object {
  return {
    class: "CommandLineTool",
    id,
    requirements: {
      DockerRequirement: { dockerPull: IMAGE },
      ResourceRequirement: { coresMin: 1, ramMin: 32 },
    },
    baseCommand: ["sh", "-c", script],
    ...more,
  };
}

/**
 * A wide scatter on the cluster of KUBECONFIG. A pod's own time is from its creation to its end: what the cluster and the tool take. The
 * rest of the places' time nobody used: between a pod's end and the next one's creation the engine is at work.
 */
export async function bench(): Promise<BenchRow[]> {
  const missing = await findPodsSkipReason();
  if (missing !== undefined) {
    console.error(`skipped: ${missing}`);
    return [];
  }
  const fixture = await startPodFixture();
  try {
    const rows = [await benchScatter(fixture, "the service's volume")];
    const objects = findObjectFilesSkipReason();
    if (objects !== undefined) {
      console.error(`files through the object storage are left out: ${objects}`);
      return rows;
    }
    const api = openClusterApi(openAccount(fixture.account, fixture.server));
    const started = await startObjectFiles(api);
    try {
      return [...rows, await benchScatter(fixture, "the object storage", started.files)];
    } finally {
      await started.close();
      await api.close();
    }
  } finally {
    await fixture.close();
  }
}

/** When what was seen of a pod, in milliseconds. */
interface Seen {
  readonly created: number;
  scheduled?: number;
  toolStarted?: number;
  toolEnded?: number;
  ended?: number;
  gone?: number;
}

async function benchScatter(fixture: PodFixture, where: string, files?: ObjectFiles): Promise<BenchRow> {
  const { server, account, namespace, claim, volume } = fixture;
  const run: PodRun = {
    server,
    account,
    namespace,
    claim,
    volume,
    user: USER,
    document: SCATTER,
    inputs: { numbers: Array.from({ length: WIDTH }, (_, index) => index) },
    job: files === undefined ? "volume" : "objects",
    cores: AT_ONCE,
    timeouts: { room: 600, start: 300 },
    ...(files && { files }),
  };
  const pods = new Map<string, Seen>();
  const stopped = new AbortController();
  const watching = watch(fixture, pods, stopped.signal);
  const program = join(import.meta.dirname, "../components/ades/execution/kubernetes/test/run-tool.ts");
  const child = spawn(process.execPath, [program, JSON.stringify(run)], { stdio: ["ignore", "pipe", "inherit"] });
  const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
  stopped.abort();
  await watching;
  const end = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "{}") as PodRunResult;
  if (end.outputs === undefined) {
    throw new Error(`the scatter failed: ${end.message ?? output.slice(-500)}`);
  }
  // The first one is the step before the scatter.
  const [, ...seen] = [...pods.values()];
  if (seen.length < WIDTH) {
    throw new Error(`${seen.length} of ${WIDTH} pods were seen`);
  }
  const from = Math.min(...seen.map(({ created }) => created));
  const to = Math.max(...seen.map(({ ended = 0 }) => ended));
  const own = seen.reduce((sum, { created, ended = created }) => sum + ended - created, 0);
  const part = (first: keyof Seen, last: keyof Seen) => {
    const all = seen.flatMap((each) => {
      const [start, stop] = [each[first], each[last]];
      return start === undefined || stop === undefined ? [] : [stop - start];
    });
    return `${(median(all) / 1000).toFixed(2)}`;
  };
  const phases = [
    `scheduled after ${part("created", "scheduled")}`,
    `tool begun after ${part("scheduled", "toolStarted")}`,
    `tool ${part("toolStarted", "toolEnded")}`,
    `stored after ${part("toolEnded", "ended")}`,
    `deleted after ${part("ended", "gone")}`,
  ];
  return {
    name: `Kubernetes: scatter of ${WIDTH}, ${AT_ONCE} at a time, files by ${where}: pods' own time of the whole`,
    value: (100 * own) / (AT_ONCE * (to - from)),
    unit: "%",
    aim: "≥ 80 %",
    note: `${((to - from) / 1000).toFixed(0)} s for ${seen.length} pods with tools of ${SLEEP} s; medians in s: ${phases.join(", ")}`,
  };
}

async function watch(fixture: PodFixture, pods: Map<string, Seen>, signal: AbortSignal): Promise<void> {
  const api = openClusterApi(openAccount(fixture.account, fixture.server));
  const path = podsPath(fixture.namespace);
  try {
    const list = await api.get<{ readonly metadata: { readonly resourceVersion: string } }>(path);
    let resourceVersion = list?.metadata.resourceVersion ?? "0";
    // The server ends a watch after some minutes; the next one goes on where it ended.
    while (!signal.aborted) {
      for await (const { type, object } of api.watch<Pod>(path, { resourceVersion }, signal)) {
        ({ resourceVersion } = object.metadata);
        if (type !== "BOOKMARK") {
          note(pods, object, type === "DELETED");
        }
      }
    }
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
  } finally {
    await api.close();
  }
}

function note(pods: Map<string, Seen>, pod: Pod, isGone: boolean): void {
  const now = performance.now();
  const seen: Seen = pods.get(pod.metadata.uid) ?? { created: now };
  pods.set(pod.metadata.uid, seen);
  const state = containerState(pod);
  if (pod.spec?.nodeName !== undefined) {
    seen.scheduled ??= now;
  }
  if (state?.running !== undefined || state?.terminated !== undefined) {
    seen.toolStarted ??= now;
  }
  if (state?.terminated !== undefined) {
    seen.toolEnded ??= now;
  }
  if (hasEnded(pod)) {
    seen.ended ??= now;
  }
  if (isGone) {
    seen.gone ??= now;
  }
}
