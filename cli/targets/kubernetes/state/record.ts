import { gunzipSync, gzipSync } from "node:zlib";

import type { KubernetesObject } from "@swath/kubernetes";

import type { Plan } from "../../../platform/plan.ts";
import type { Connection } from "../api/connection.ts";
import { applyObject, readObject } from "../api/objects.ts";
import { commonLabels } from "../render/labels.ts";
import { PLAN_SECRET, RECORD_NAMESPACE } from "./names.ts";

const identity = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: PLAN_SECRET, namespace: RECORD_NAMESPACE },
} as const;

/** The plan that was applied last. It is kept in the cluster, so that every machine that reaches the cluster finds it. */
export async function readPlan(connection: Connection, clusterName: string): Promise<Plan | undefined> {
  const secret = await readObject(connection, identity);
  const packed = (secret?.["data"] as Record<string, string> | undefined)?.["plan.json.gz"];
  if (packed === undefined) {
    return undefined;
  }
  const plan = JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString("utf8")) as Plan;
  return plan.settings.clusterName === clusterName ? plan : undefined;
}

/** A Secret, because a plan holds the operator's passwords. */
export async function writePlan(connection: Connection, plan: Plan): Promise<void> {
  await applyObject(connection, renderRecord(plan));
}

function renderRecord(plan: Plan): KubernetesObject {
  const packed = gzipSync(JSON.stringify(plan), { level: 9 }).toString("base64");
  return {
    ...identity,
    metadata: { ...identity.metadata, labels: commonLabels(plan.settings) },
    type: "Opaque",
    data: { "plan.json.gz": packed },
  };
}
