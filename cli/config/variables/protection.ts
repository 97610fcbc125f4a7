import type { Variables } from "@swath/manifest";
import { derived, fixed, sameAs, type Fallback, type RuleContext, type VariableGroup } from "../define.ts";
import { boolean, text } from "../value-types.ts";

/** How people come in: open or protected, with TLS or without, and who signs the certificates. */
export const protectionVariables = {
  OPEN_INGRESS: {
    type: boolean,
    fallback: derived(
      "false; true where there is no identity service to protect anything with",
      (context) => !hasIssuer(context),
    ),
    meaning: "Offer `<service>-open.<domain>` hosts that nothing protects. Leave it false for a secure system.",
  },
  REQUIRE_DUMMY_SERVICE_PROTECTION: protection("REQUIRE_DUMMY_SERVICE", "the debugging service"),
  REQUIRE_ADES_PROTECTION: protection("REQUIRE_ADES", "the processing service"),
  REQUIRE_RESOURCE_CATALOGUE_PROTECTION: protection("REQUIRE_RESOURCE_CATALOGUE", "the resource catalogue"),
  REQUIRE_DATA_ACCESS_PROTECTION: protection("REQUIRE_DATA_ACCESS", "the data access service"),
  REGISTRATION_API_PROTECTION: {
    ...protection("REQUIRE_REGISTRATION_API", "the registration API"),
    variants: ["A"],
    worksInBoth: true,
    aliases: ["REQUIRE_REGISTRATION_API_PROTECTION"],
  },
  REQUIRE_WORKSPACE_API_PROTECTION: protection("REQUIRE_WORKSPACE_API", "the workspace API"),
  TRUSTED_PROXIES: {
    type: text({
      pattern: /^[0-9a-fA-F.:]+(\/\d{1,3})?( *, *[0-9a-fA-F.:]+(\/\d{1,3})?)*$/,
      allowed: "addresses and networks, separated by commas: 10.0.0.0/8, 192.0.2.7",
    }),
    fallback: fixed(undefined),
    meaning:
      "Reverse proxies in front of the embedded cluster: whom they act for (X-Forwarded-For) and whether by TLS (X-Forwarded-Proto) is taken from them, and from nobody else. Without it everybody behind a proxy has its address, and shares its limits.",
  },
  USE_TLS: {
    type: boolean,
    fallback: fixed(true),
    meaning:
      "Serve the hosts with TLS. When false, requests without TLS are not redirected and TLS_CLUSTER_ISSUER is notls.",
  },
  USE_HTTP2: {
    type: boolean,
    fallback: sameAs("USE_TLS"),
    meaning:
      "Offer HTTP/2 to browsers on the embedded cluster, beside HTTP/1.1; only over TLS. On Kubernetes the ingress controller decides.",
  },
  TLS_CLUSTER_ISSUER: {
    type: text({
      pattern: /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/,
      allowed: "the name of an issuer: letters a-z, digits, - and .",
    }),
    fallback: derived(
      "letsencrypt-staging; on the embedded cluster acme where ACME_DIRECTORY_URL is set, else local-ca where the domain or the public address is private",
      ({ get, isPrivate }) => {
        const isEmbedded = get("REQUIRE_LOCALCLUSTER") && get("LOCALCLUSTER_TOOL") === "embedded";
        return isEmbedded && get("ACME_DIRECTORY_URL") !== undefined
          ? "acme"
          : isEmbedded && isPrivate()
            ? "local-ca"
            : "letsencrypt-staging";
      },
    ),
    overrule: { rule: "notls where USE_TLS is false", derive: ({ get }) => (get("USE_TLS") ? undefined : "notls") },
    meaning:
      "Who signs the certificates of the hosts: letsencrypt-staging and letsencrypt-production (on Kubernetes made by deploy/cluster/acme-issuers.sh), local-ca on the embedded cluster, an issuer of the cluster on Kubernetes, or any name for the server at ACME_DIRECTORY_URL.",
  },
} satisfies VariableGroup;

/** Something tells who people are: the identity service, the login service, or an existing issuer. */
function hasIssuer({ get, variant }: RuleContext): boolean {
  const deployed = variant === "B" ? "REQUIRE_LOGIN_SERVICE" : "REQUIRE_IDENTITY_SERVICE";
  return get(deployed) || get("IDENTITY_ISSUER_URL") !== undefined;
}

function protection(component: keyof Variables, title: string) {
  return {
    type: boolean,
    fallback: derived(
      `value of ${component}, and false where OPEN_INGRESS is true (variant A) or there is no login service (variant B)`,
      (context) =>
        context.get(component) === true &&
        (context.variant === "B" ? hasIssuer(context) : !context.get("OPEN_INGRESS")),
    ) as Fallback<boolean>,
    meaning: `Let only requests with valid credentials reach ${title}.`,
  };
}
