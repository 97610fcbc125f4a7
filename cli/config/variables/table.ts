import type { Variables } from "@swath/manifest";
import type { VariableDefinition, VariableGroup, VariableTable } from "../define.ts";
import { certificateVariables } from "./certificates.ts";
import { cloudDataVariables } from "./cloud-data.ts";
import { cloudVariables } from "./cloud.ts";
import { clusterVariables } from "./cluster.ts";
import { componentVariables } from "./components.ts";
import { identityVariables } from "./identity.ts";
import { kubernetesVariables } from "./kubernetes.ts";
import { processingVariables } from "./processing.ts";
import { protectionVariables } from "./protection.ts";
import { storageVariables } from "./storage.ts";

/** The table by subject, in the order of the reference page. */
export const variableGroups: readonly { readonly title: string; readonly variables: VariableGroup }[] = [
  { title: "Cluster", variables: clusterVariables },
  { title: "Components", variables: componentVariables },
  { title: "Access and protection", variables: protectionVariables },
  { title: "Certificates (embedded cluster)", variables: certificateVariables },
  { title: "Identity", variables: identityVariables },
  { title: "Storage", variables: storageVariables },
  { title: "Processing and addresses", variables: processingVariables },
  { title: "A cloud provider's data offering", variables: cloudDataVariables },
  { title: "Kubernetes", variables: kubernetesVariables },
  { title: "Infrastructure cloud (bucket operator)", variables: cloudVariables },
];

/** Every variable an operator may set. It compiles only when each name of `Variables` is here, with its type. */
export const variableTable: VariableTable = {
  ...clusterVariables,
  ...componentVariables,
  ...protectionVariables,
  ...certificateVariables,
  ...identityVariables,
  ...storageVariables,
  ...processingVariables,
  ...cloudDataVariables,
  ...kubernetesVariables,
  ...cloudVariables,
};

export const variableNames = Object.keys(variableTable) as readonly (keyof Variables)[];

/** Names and aliases: everything that is read from the environment. */
export function allVariableNames(): readonly string[] {
  return variableNames.flatMap((name) => [name, ...(definitionOf(name).aliases ?? [])]);
}

/** One definition without the type of its value, for code that walks through all of them. */
export function definitionOf(name: keyof Variables): VariableDefinition<unknown> {
  return variableTable[name] as VariableDefinition<unknown>;
}
