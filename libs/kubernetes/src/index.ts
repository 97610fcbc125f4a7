export type {
  Container,
  EnvVar,
  JsonValue,
  KubernetesObject,
  Metadata,
  PodSpec,
  PodTemplate,
  PodVolume,
  VolumeMount,
} from "./objects.ts";
export { SERVER_LABEL, WORKSPACE_LABEL, hashOf, namespaceRoleName, secretsRoleName, toName } from "./names.ts";
export { type Toleration, parseLabels, parseToleration } from "./placement.ts";
export { sortForApply, toPlainYaml, toYaml } from "./yaml.ts";
