import type { KubernetesObject } from "@swath/kubernetes";

import { autoscalingVersion } from "../render/autoscalers.ts";
import { HTTP_ROUTE } from "../render/http-routes.ts";
import { ADMISSION_POLICY_MINOR } from "../render/admission-policy.ts";

type Kind = Pick<KubernetesObject, "apiVersion" | "kind">;

/** The controllers of pods. */
export const controllerKinds: readonly Kind[] = [
  { apiVersion: "apps/v1", kind: "Deployment" },
  { apiVersion: "apps/v1", kind: "StatefulSet" },
  { apiVersion: "apps/v1", kind: "DaemonSet" },
  { apiVersion: "batch/v1", kind: "Job" },
];

/** What leads to pods and makes them; it goes first. */
export const leadingKinds: readonly Kind[] = [
  { apiVersion: "networking.k8s.io/v1", kind: "Ingress" },
  HTTP_ROUTE,
  ...controllerKinds,
];

/** Every kind that a deployment may consist of, but for namespaces and what is kept in them, in the order they are removed. */
export function removableKinds(minor: number): readonly Kind[] {
  return [...leadingKinds, ...referredKinds(minor)];
}

/** What pods refer to: a node that lost it could not even end them. */
export function referredKinds(minor: number): readonly Kind[] {
  return [
    { apiVersion: minor >= 21 ? "policy/v1" : "policy/v1beta1", kind: "PodDisruptionBudget" },
    { apiVersion: autoscalingVersion(minor), kind: "HorizontalPodAutoscaler" },
    { apiVersion: "v1", kind: "Service" },
    { apiVersion: "v1", kind: "ConfigMap" },
    { apiVersion: "v1", kind: "Secret" },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding" },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" },
    { apiVersion: "v1", kind: "ServiceAccount" },
    ...(minor >= ADMISSION_POLICY_MINOR
      ? [
          { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicyBinding" },
          { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy" },
        ]
      : []),
    { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" },
    { apiVersion: "monitoring.coreos.com/v1", kind: "PodMonitor" },
  ];
}

export function isController({ kind }: Pick<KubernetesObject, "kind">): boolean {
  return controllerKinds.some((one) => one.kind === kind);
}
