import { derived, fixed, sameAs, type VariableGroup } from "../define.ts";
import { boolean, choice, cpus, size, text } from "../value-types.ts";

const version = text({ pattern: /^v?\d+\.\d+(\.\d+)?([-+.][\w.+-]+)?$/, allowed: "a version like v1.22.5" });

/** Which cluster, how large, and what is installed in it before the platform. */
export const clusterVariables = {
  PLATFORM_VARIANT: {
    type: choice(["A", "B"]),
    fallback: fixed("A"),
    meaning:
      "A: identity service with realms, access tokens and a proxy in front of each protected service. B: the earlier login service with ID tokens and a protection script of its own.",
  },
  LOCALCLUSTER_TOOL: {
    type: choice(["embedded", "minikube"]),
    fallback: fixed("embedded"),
    meaning:
      "What provides the local cluster where REQUIRE_LOCALCLUSTER is true: Swath's own supervisor and ingress on this machine, or minikube.",
  },
  REQUIRE_LOCALCLUSTER: {
    type: boolean,
    fallback: fixed(true),
    meaning: "Create or use a local cluster. When false, the cluster of the current kubeconfig context is used.",
    aliases: ["REQUIRE_MINIKUBE"],
  },
  REQUIRE_INGRESS_CONTROLLER: {
    type: boolean,
    fallback: derived("false with GATEWAY, true without", ({ get }) => get("GATEWAY") === undefined),
    meaning:
      "Provide the ingress controller. Set to false where the cluster has one. The embedded cluster always has its own.",
    aliases: ["REQUIRE_INGRESS_NGINX"],
  },
  REQUIRE_CERTIFICATE_MANAGER: {
    type: boolean,
    fallback: sameAs("USE_TLS"),
    meaning:
      "Install the certificate manager. Set to false where the cluster has one. It has no effect while USE_TLS is false.",
    aliases: ["REQUIRE_CERT_MANAGER"],
  },
  REQUIRE_ACME_ISSUERS: {
    type: boolean,
    fallback: sameAs("USE_TLS"),
    meaning:
      "Create the issuers letsencrypt-staging and letsencrypt-production (deploy/cluster/acme-issuers.sh). It has no effect while USE_TLS is false.",
    aliases: ["REQUIRE_LETSENCRYPT"],
  },
  REQUIRE_SEALED_SECRETS: {
    type: boolean,
    fallback: fixed(false),
    meaning:
      "Install the sealed-secrets controller, for operators who keep their secrets in a repository. Kubernetes only.",
  },
  LOCALCLUSTER_VERSION: {
    type: version,
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("v1.32.0"),
    meaning: "Version of minikube to install where LOCALCLUSTER_TOOL is minikube and this machine has none.",
    aliases: ["MINIKUBE_VERSION"],
  },
  LOCALCLUSTER_ORCH_VERSION: {
    type: version,
    fallback: fixed("v1.22.5"),
    meaning: "Kubernetes version of the local cluster, and the version that `template` writes its objects for.",
    aliases: ["MINIKUBE_KUBERNETES_VERSION"],
  },
  LOCALCLUSTER_CPU_AMOUNT: {
    type: cpus,
    fallback: fixed("max"),
    meaning:
      "Processors of the local cluster. On the embedded cluster: the capacity that processing jobs are admitted against.",
    aliases: ["MINIKUBE_CPU_AMOUNT"],
  },
  LOCALCLUSTER_MEMORY_AMOUNT: {
    type: size("tool"),
    fallback: fixed("12g"),
    meaning:
      "Memory of the local cluster. On the embedded cluster: the capacity that processing jobs are admitted against.",
    aliases: ["MINIKUBE_MEMORY_AMOUNT"],
  },
  LOCALCLUSTER_DISK_AMOUNT: {
    type: size("tool"),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("20g"),
    meaning:
      "Disk of the local cluster. On the embedded cluster: the capacity that processing jobs are admitted against.",
    aliases: ["MINIKUBE_DISK_AMOUNT"],
  },
  LOCALCLUSTER_EXTRA_OPTIONS: {
    type: text({ allowed: "options like --ports=80:80,443:443" }),
    variants: ["A"],
    worksInBoth: true,
    fallback: fixed("--ports=80:80,443:443"),
    meaning:
      "Further options of the cluster's start command. The embedded cluster honours --ports (machine port:cluster port, where 80 and 443 are the ingress's; an address in front of them binds to it) and --listen-address.",
    aliases: ["MINIKUBE_EXTRA_OPTIONS"],
  },
  USE_LOADBALANCER_ADDON: {
    type: boolean,
    fallback: fixed(false),
    meaning:
      "Enable minikube's load balancer. The public address then defaults to the cluster's address with 123 as its last number.",
    aliases: ["USE_METALLB"],
  },
  USE_INGRESS_CONTROLLER_HELM: {
    type: boolean,
    fallback: derived(
      "false with a local cluster; true without, where no cluster tool provides one",
      ({ get }) => !get("REQUIRE_LOCALCLUSTER"),
    ),
    meaning:
      "Install the ingress controller from its published chart instead of the cluster tool's own. Kubernetes only.",
    aliases: ["USE_INGRESS_NGINX_HELM"],
  },
  USE_INGRESS_CONTROLLER_LOADBALANCER: {
    type: boolean,
    fallback: derived("false with a local cluster, true without", ({ get }) => !get("REQUIRE_LOCALCLUSTER")),
    meaning:
      "Give the built-in ingress controller a service of type LoadBalancer instead of NodePort. It applies only while USE_INGRESS_CONTROLLER_HELM is false.",
    aliases: ["USE_INGRESS_NGINX_LOADBALANCER"],
  },
} satisfies VariableGroup;
