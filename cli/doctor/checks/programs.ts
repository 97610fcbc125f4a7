import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Check, Finding } from "../finding.ts";

interface Program {
  readonly name: string;
  readonly isNeeded: boolean;
  readonly purpose: string;
}

/** Programs that this configuration hands work to. */
export const checkPrograms: Check = ({ env, prepared: { resolution } }) => {
  const { variables: v } = resolution.config;
  const usesCharts =
    !(v.REQUIRE_LOCALCLUSTER && v.LOCALCLUSTER_TOOL === "embedded") &&
    (v.REQUIRE_INGRESS_CONTROLLER || v.REQUIRE_CERTIFICATE_MANAGER || v.REQUIRE_SEALED_SECRETS);
  const programs: readonly Program[] = [
    {
      name: "minikube",
      isNeeded: v.REQUIRE_LOCALCLUSTER && v.LOCALCLUSTER_TOOL === "minikube",
      purpose: "LOCALCLUSTER_TOOL=minikube makes the cluster with it",
    },
    { name: "helm", isNeeded: usesCharts, purpose: "third-party components of the cluster are installed with it" },
  ];
  const folders = (env["PATH"] ?? "").split(":");
  return programs
    .filter(({ isNeeded }) => isNeeded)
    .map(({ name, purpose }): Finding => {
      const path = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
      return path === undefined
        ? {
            verdict: "bad",
            subject: name,
            found: "is not installed",
            meaning: `${purpose}.`,
            advice: `Install ${name}, or switch off what asks for it.`,
          }
        : { verdict: "good", subject: name, found: path };
    });
};
