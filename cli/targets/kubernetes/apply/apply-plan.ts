import type { KubernetesObject } from "@swath/kubernetes";

import type { Plan } from "../../../platform/plan.ts";
import type { Connection } from "../api/connection.ts";
import { applyObject, forEachConcurrent, listObjects } from "../api/objects.ts";
import { autoscalingVersion } from "../render/autoscalers.ts";
import { isHost } from "../render/http-routes.ts";
import { commonLabels, keys } from "../render/labels.ts";
import type { RenderInput } from "../render/render-input.ts";
import { renderNamespace, renderPlan } from "../render/render-plan.ts";
import { fillSecret, openGeneratedSecrets } from "../state/generated-secrets.ts";
import { RECORD_NAMESPACE, selectDeployment } from "../state/names.ts";
import { writePlan } from "../state/record.ts";
import { applyNamespace } from "./apply-namespace.ts";
import { keepImages } from "./keep-images.ts";
import { keepLargerClaims } from "./keep-larger-claims.ts";
import { keepReplicas } from "./keep-replicas.ts";
import { controllerKinds, isController } from "./kinds.ts";
import { prune } from "./prune.ts";
import { type RollOutProgress, rollOut } from "./roll-out.ts";

interface ApplyOptions {
  readonly connection: Connection;
  readonly plan: Plan;
  readonly minor: number;
  readonly progress: RollOutProgress;
  readonly signal: AbortSignal;
}

export interface AcceptedPlan {
  /** Starts workloads in their order, waits for each, then removes what the plan no longer has. */
  readonly finish: () => Promise<void>;
}

/** Makes everything that workloads refer to, and remembers the plan. What is there already as it should be is not touched. */
export async function acceptPlan({ connection, plan, minor, progress, signal }: ApplyOptions): Promise<AcceptedPlan> {
  await applyNamespace(connection, renderNamespace(plan, RECORD_NAMESPACE));
  const secrets = await openGeneratedSecrets(connection, commonLabels(plan.settings));
  const input: RenderInput = { ...plan, cluster: { minor } };
  const labels = selectDeployment(plan.settings.clusterName);
  const autoscalerKind = { apiVersion: autoscalingVersion(minor), kind: "HorizontalPodAutoscaler" };
  const [claims, autoscalers, ...live] = await Promise.all([
    listObjects(connection, { apiVersion: "v1", kind: "PersistentVolumeClaim" }, { labels }),
    listObjects(connection, autoscalerKind, {}),
    ...controllerKinds.map((kind) => listObjects(connection, kind, { labels })),
  ]);
  const controllers = live.flat();
  const sized = keepLargerClaims(renderPlan(input), claims);
  // One of ours that is to go decides no longer.
  const others = autoscalers.filter(({ metadata }) => metadata.labels?.[keys.deployment] === undefined);
  const objects = keepReplicas(keepImages(sized, controllers), controllers, others).map((object) =>
    fillSecret(object, secrets),
  );
  await secrets.save();
  await writePlan(connection, plan);
  await forEachConcurrent(
    objects.filter(({ kind }) => kind === "Namespace"),
    (object) => applyNamespace(connection, object),
  );
  const isLater = (object: KubernetesObject) => isController(object) || isHost(object);
  await forEachConcurrent(
    objects.filter((object) => object.kind !== "Namespace" && !isLater(object)),
    async (object) => void (await applyObject(connection, object)),
  );
  return {
    finish: async () => {
      await rollOut({ connection, plan: input, objects: objects.filter(isLater), progress, signal });
      await prune({ connection, clusterName: plan.settings.clusterName, minor, desired: objects });
    },
  };
}
