import { fixed, type VariableGroup } from "../define.ts";
import { boolean, text } from "../value-types.ts";
import { NAME, labels, listOf, objectName, taints } from "./kubernetes-forms.ts";

/** How the platform's pods fit into an existing cluster. Nothing here has a meaning on the embedded cluster. */
export const kubernetesVariables = {
  INGRESS_CLASS: {
    type: objectName("an ingress class"),
    fallback: fixed("nginx"),
    meaning:
      "Ingress class of all hosts. The annotations are those of ingress-nginx; another controller needs its own limits on bodies and time removed. Kubernetes only.",
  },
  GATEWAY: {
    type: text({
      pattern: new RegExp(`^${NAME}/${NAME}$`),
      allowed: "a namespace and the name of a Gateway there, such as infra/public",
    }),
    fallback: fixed(undefined),
    meaning:
      "Gateway (gateway.networking.k8s.io/v1) that hosts are reached through, by an HTTPRoute each in place of an Ingress. Its listeners have the certificates. Kubernetes only.",
  },
  INGRESS_NAMESPACE: {
    type: text({ pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, allowed: "the name of a namespace" }),
    fallback: fixed(undefined),
    meaning:
      "Namespace whose pods bring requests from outside to services: that of the ingress controller or of the Gateway's proxies. Without it pods labelled app.kubernetes.io/name=ingress-nginx may, or with GATEWAY those labelled with its name. Kubernetes only.",
  },
  IMAGE_PULL_SECRETS: {
    type: text({ pattern: listOf(NAME), allowed: "names of Secrets, separated by commas" }),
    fallback: fixed(undefined),
    meaning:
      "Secrets of type kubernetes.io/dockerconfigjson with which SWATH_IMAGE is pulled; each has to be in every namespace of the deployment. Kubernetes only.",
  },
  POD_NODE_SELECTOR: {
    type: labels,
    fallback: fixed(undefined),
    meaning:
      "Labels of the nodes that the platform's services run on; PROCESSING_NODE_SELECTOR is for pods of jobs. Kubernetes only.",
  },
  POD_TOLERATIONS: {
    type: taints,
    fallback: fixed(undefined),
    meaning:
      "Taints of nodes that the platform's services tolerate: KEY[=VALUE][:EFFECT]; PROCESSING_TOLERATIONS is for pods of jobs. Kubernetes only.",
  },
  POD_PRIORITY_CLASS: {
    type: objectName("a priority class"),
    fallback: fixed(undefined),
    meaning: "Priority class of the platform's services, not of jobs (PROCESSING_PRIORITY_CLASS). Kubernetes only.",
  },
  BUCKET_SECRET_NAMESPACES: {
    type: text({
      pattern: listOf("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"),
      allowed: "names of namespaces, separated by commas",
    }),
    variants: ["B"],
    fallback: fixed(undefined),
    meaning:
      "Namespaces, none of the platform's own, in which the bucket operator may put the keys of Bucket resources as Secrets. Without it none. Kubernetes only.",
  },
  METRICS_NAMESPACE: {
    type: text({ pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, allowed: "the name of a namespace" }),
    fallback: fixed(undefined),
    meaning:
      "Namespace whose pods may read /metrics of every service (port management), such as that of Prometheus. Without it none may. Kubernetes only.",
  },
  SERVICE_MONITORS: {
    type: boolean,
    fallback: fixed(false),
    meaning:
      "Make a PodMonitor (monitoring.coreos.com/v1) in each namespace, which the Prometheus operator follows. It needs METRICS_NAMESPACE. Kubernetes only.",
  },
} satisfies VariableGroup;
