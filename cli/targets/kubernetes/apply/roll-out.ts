import { setTimeout as sleep } from "node:timers/promises";

import type { KubernetesObject } from "@swath/kubernetes";
import type { Workload } from "@swath/manifest";

import type { Connection } from "../api/connection.ts";
import { applyObject, forEachConcurrent, listObjects } from "../api/objects.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { isHost } from "../render/http-routes.ts";
import type { RenderInput } from "../render/render-input.ts";
import { selectApplied } from "../state/names.ts";
import { controllerKinds, isController } from "./kinds.ts";
import { replaceImage } from "./replace-image.ts";
import { type Rollout, assessRollout } from "./rollout.ts";

/** Milliseconds between two looks at the cluster. */
const INTERVAL = 500;
const WORKLOAD_LABEL = "app.kubernetes.io/name";

/** What a roll-out can say of itself while it is under way. */
export interface RollOutProgress {
  /** Workloads that have not been started yet, and what they wait for. */
  readonly waiting: Map<string, readonly string[]>;
  /** Workloads that are what the plan says. The pod of a task among them may have been tidied away by the cluster since. */
  readonly done: Set<string>;
}

interface RollOutOptions {
  readonly connection: Connection;
  readonly plan: RenderInput;
  /** Controllers of pods, and what leads hosts to them. */
  readonly objects: readonly KubernetesObject[];
  readonly progress: RollOutProgress;
  readonly signal: AbortSignal;
}

/**
 * Starts every workload as soon as all that it needs is ready, and turns a host to it when it is ready itself. Resolves when all
 * are what the plan says.
 * @throws {KubernetesError} when one cannot become so
 */
export async function rollOut({ connection, plan, objects, progress, signal }: RollOutOptions): Promise<void> {
  const started = new Map<string, Promise<void>>();
  const watch = createRolloutWatch(connection, plan.settings.clusterName, signal);
  for (const { name, needs = [] } of plan.workloads) {
    progress.waiting.set(name, needs);
  }
  const roll = async (workload: Workload): Promise<void> => {
    await Promise.all((workload.needs ?? []).map((name) => start(name)));
    signal.throwIfAborted();
    const controller = objects.find((object) => isController(object) && belongsTo(object, workload));
    if (controller?.kind === "StatefulSet") {
      await replaceImage(connection, { settings: plan.settings, workload, controller, signal });
    }
    if (controller !== undefined) {
      const { metadata } = await applyObject(connection, controller);
      progress.waiting.delete(workload.name);
      await watch(controller, metadata.generation ?? 1);
      progress.done.add(workload.name);
    }
    const hosts = objects.filter((object) => isHost(object) && backendOf(plan, object) === workload.name);
    await forEachConcurrent(hosts, async (host) => void (await applyObject(connection, host)));
  };
  const start = (name: string): Promise<void> => {
    const existing = started.get(name);
    if (existing !== undefined) {
      return existing;
    }
    const workload = plan.workloads.find((candidate) => candidate.name === name);
    const made = workload === undefined ? Promise.resolve() : roll(workload);
    started.set(name, made);
    return made;
  };
  await Promise.all(plan.workloads.map(({ name }) => start(name)));
}

/** One look at the cluster serves everybody who waits. */
function createRolloutWatch(
  connection: Connection,
  clusterName: string,
  signal: AbortSignal,
): (controller: KubernetesObject, generation: number) => Promise<void> {
  let states: Promise<ReadonlyMap<string, { generation: number; rollout: Rollout }>> | undefined;
  const look = async () => {
    const lists = await Promise.all(
      controllerKinds.map((kind) => listObjects(connection, kind, { labels: selectApplied(clusterName) })),
    );
    return new Map(
      lists
        .flat()
        .map((object) => [
          keyOf(object),
          { generation: object.metadata.generation ?? 1, rollout: assessRollout(object) },
        ]),
    );
  };
  const lookSoon = () => {
    states ??= look().finally(() => {
      states = undefined;
    });
    return states;
  };
  return async (controller, generation) => {
    for (;;) {
      const found = (await lookSoon()).get(keyOf(controller));
      // A look that began before the change was made shows what was before it.
      if (found !== undefined && found.generation >= generation) {
        if (found.rollout.state === "done") {
          return;
        }
        if (found.rollout.state === "failed") {
          throw new KubernetesError(`${keyOf(controller)} failed: ${found.rollout.reason}`);
        }
      }
      await sleep(INTERVAL, undefined, { signal });
    }
  };
}

const keyOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;

function belongsTo({ metadata }: KubernetesObject, workload: Workload): boolean {
  return metadata.namespace === workload.namespace && metadata.labels?.[WORKLOAD_LABEL] === workload.name;
}

function backendOf(plan: RenderInput, host: KubernetesObject): string | undefined {
  return plan.routes.find(
    ({ service, namespace }) => service === host.metadata.name && namespace === host.metadata.namespace,
  )?.workload;
}
