import { statSync } from "node:fs";
import { join } from "node:path";

import { publishForIngress } from "../accounts/ingress-folder.ts";
import type { Certificate, IngressConfig, Listener, Route } from "../ingress/config.ts";
import { writeJsonFile } from "../state/json-file.ts";
import type { ClusterPaths } from "../state/paths.ts";
import type { DesiredState } from "./supervisor.ts";
import type { WorkloadController } from "./workload-controller.ts";

type FindController = (workload: string) => WorkloadController | undefined;

/**
 * Writes the ingress's configuration whenever hosts, pods, their readiness or certificates change.
 * @param group of the ingress, where it has its own account
 */
export function createIngressConfigWriter(
  paths: ClusterPaths,
  group: number | undefined,
): (desired: DesiredState, certificates: readonly Certificate[], find: FindController) => void {
  let written = "";
  return (desired, certificates, find) => {
    const config = toIngressConfig(desired, certificates, find, paths);
    // A certificate that is renewed has the name of the one before.
    const files = config.tls.certificates.map(({ certFile }) => statSync(certFile, { throwIfNoEntry: false })?.mtimeMs);
    const text = JSON.stringify([config, files]);
    if (text !== written) {
      writeJsonFile(paths.ingressConfig, config);
      if (group !== undefined) {
        publishForIngress(config, paths, group);
      }
      written = text;
    }
  };
}

function toIngressConfig(
  { plan, cluster }: DesiredState,
  certificates: readonly Certificate[],
  find: FindController,
  paths: ClusterPaths,
): IngressConfig {
  // Until the first certificate is there, plain requests are told to wait by the redirect itself: nothing listens on https.
  const tls = certificates.length > 0;
  const listeners: Listener[] = cluster.addresses.flatMap((address) => [
    { address, port: cluster.httpPort, tls: false },
    ...(tls ? [{ address, port: cluster.httpsPort, tls: true }] : []),
  ]);
  // Plans of before know no such variable.
  const proxies: string | undefined = plan.settings.variables.TRUSTED_PROXIES;
  return {
    listeners,
    // Plans of before know no such variable: those stay as they are until the next apply.
    ...(tls && plan.settings.variables.USE_HTTP2 && { http2: true }),
    sslRedirect: plan.settings.scheme === "https",
    ...(proxies !== undefined && { trustedProxies: proxies.split(",").map((text) => text.trim()) }),
    routes: plan.routes.map(({ host, wildcard, perWorkspace, service, namespace, workload, port }): Route => {
      const controller = find(workload);
      const serving = controller?.serving;
      const message = serving?.message ?? controller?.current?.message;
      return {
        host,
        service,
        namespace,
        ...(wildcard && { wildcard }),
        ...(perWorkspace === true && { perWorkspace }),
        upstream: serving === undefined ? null : { socketPath: join(serving.directory, `${port}.sock`) },
        ready: serving?.ready ?? false,
        ...(message !== undefined && { reason: message }),
        ...(controller?.pods.some((pod) => !pod.ready && pod.phase !== "CrashLoopBackOff") && { deploying: true }),
      };
    }),
    tls: {
      certificates,
      ...(tls &&
        plan.settings.variables.TLS_CLUSTER_ISSUER === "local-ca" && {
          workspaces: { caFolder: paths.tls, domain: plan.settings.domain },
        }),
    },
    challengeFolder: join(paths.ingress, "challenges"),
  };
}
