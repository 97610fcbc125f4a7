import { applyObjects } from "@swath/testing/kubernetes";

/** Makes the pod by which an apply pulls an image, and leaves it as one does that is killed meanwhile. @returns the arguments of kubectl that show it */
export async function leavePullPod(workload: string, namespace: string, image: string): Promise<string[]> {
  const name = `${workload}-image`;
  await applyObjects([
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace },
      spec: {
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
        containers: [
          {
            name: "image",
            image,
            resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
          },
        ],
      },
    },
  ]);
  return ["get", "pod", name, "-n", namespace];
}
