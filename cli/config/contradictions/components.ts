import { usesCloud } from "@swath/manifest";

import { hasIdentity, type ContradictionRule } from "./rule.ts";

/** Components without what they need. */
export const componentRules: readonly ContradictionRule[] = [
  {
    subject: "STAGEOUT_TARGET",
    check: ({ variables: v }) =>
      v.STAGEOUT_TARGET === "objstore" && !v.REQUIRE_OBJSTORE && v.OBJSTORE_ENDPOINT === undefined
        ? "is objstore, but REQUIRE_OBJSTORE is false and OBJSTORE_ENDPOINT names no other: results have nowhere to go"
        : undefined,
  },
  {
    subject: "STAGEOUT_TARGET",
    check: ({ variables: v }) =>
      v.REQUIRE_ADES && v.STAGEOUT_TARGET === "workspace" && !v.REQUIRE_WORKSPACE_API
        ? "is workspace, but REQUIRE_WORKSPACE_API is false: results have nowhere to go; set STAGEOUT_TARGET=objstore"
        : undefined,
  },
  {
    subject: "REQUIRE_WORKSPACE_API",
    check: ({ variables: v }) =>
      v.REQUIRE_WORKSPACE_API && !v.REQUIRE_OBJSTORE && v.OBJSTORE_ENDPOINT === undefined
        ? "is true, but REQUIRE_OBJSTORE is false and OBJSTORE_ENDPOINT names no other: workspaces have no buckets"
        : undefined,
  },
  {
    subject: "REQUIRE_WORKSPACE_API",
    check: ({ variables: v }) =>
      v.REQUIRE_WORKSPACE_API && !v.REQUIRE_REGISTRY && v.REGISTRY_URL === undefined
        ? "is true, but REQUIRE_REGISTRY is false: workspaces have no image repository"
        : undefined,
  },
  {
    subject: "INSTALL_GITOPS",
    check: ({ variables: v, isExplicit }) =>
      v.REQUIRE_WORKSPACE_API && !v.INSTALL_GITOPS && isExplicit("INSTALL_GITOPS")
        ? "has no effect: workspaces are made by the reconciler that the workspace API brings, which needs no other component"
        : undefined,
  },
  {
    subject: "REGISTRY_URL",
    impossible: true,
    check: ({ variables: v, isExplicit }) =>
      v.REGISTRY_URL !== undefined && v.REQUIRE_REGISTRY && isExplicit("REQUIRE_REGISTRY")
        ? "names an existing image registry while REQUIRE_REGISTRY=true asks to deploy one; set one of them"
        : undefined,
  },
  {
    subject: "REGISTRY_CONTENT",
    impossible: true,
    check: ({ variables: v }) =>
      v.REQUIRE_REGISTRY &&
      v.REGISTRY_CONTENT === "objstore" &&
      !v.REQUIRE_OBJSTORE &&
      v.OBJSTORE_ENDPOINT === undefined
        ? "is objstore, but REQUIRE_OBJSTORE is false and OBJSTORE_ENDPOINT names no other: images have nowhere to go"
        : undefined,
  },
  {
    subject: "REQUIRE_WORKSPACE_API",
    check: ({ config, variables: v }) =>
      config.variant === "B" && v.REQUIRE_WORKSPACE_API && !v.REQUIRE_BUCKET_OPERATOR
        ? "is true, but REQUIRE_BUCKET_OPERATOR is false: nobody makes the buckets of workspaces"
        : undefined,
  },
  {
    subject: "CLOUD_DOMAINNAME",
    check: ({ config, variables }) =>
      config.variant === "B" && variables.REQUIRE_BUCKET_OPERATOR && !usesCloud({ variant: "B", variables })
        ? "names no cloud, so the bucket operator makes buckets in the deployment's own object storage"
        : undefined,
  },
  {
    subject: "CLOUD_USERNAME",
    impossible: true,
    check: ({ config, variables, isExplicit }) =>
      usesCloud({ variant: config.variant, variables }) && !isExplicit("CLOUD_USERNAME")
        ? "is not set, and its default is a placeholder: name the account that makes buckets in the cloud of CLOUD_DOMAINNAME"
        : undefined,
  },
  ...(["CLOUD_PASSWORD", "CLOUD_MEMBERROLEID"] as const).map((subject): ContradictionRule => ({
    subject,
    impossible: true,
    check: ({ config, variables }) =>
      usesCloud({ variant: config.variant, variables }) && variables[subject] === undefined
        ? "is not set, and the bucket operator cannot make buckets in the cloud of CLOUD_DOMAINNAME without it"
        : undefined,
  })),
  {
    subject: "USER_CONTENT_DOMAIN",
    impossible: true,
    check: ({ variables: { USER_CONTENT_DOMAIN: content }, config: { domain } }) =>
      content !== undefined && `.${content}`.endsWith(`.${domain}`)
        ? `is ${content}, at or below the domain of the platform, ${domain}: cookies of the platform would reach it; name a domain beside it`
        : undefined,
  },
  {
    subject: "OBJSTORE_ENDPOINT",
    impossible: true,
    check: ({ variables: v, isExplicit }) =>
      v.OBJSTORE_ENDPOINT !== undefined && v.REQUIRE_OBJSTORE && isExplicit("REQUIRE_OBJSTORE")
        ? "names an existing object storage while REQUIRE_OBJSTORE=true asks to deploy one; set one of them"
        : undefined,
  },
  {
    subject: "OBJSTORE_ENDPOINT",
    impossible: true,
    check: ({ variables: v, isExplicit }) =>
      v.OBJSTORE_ENDPOINT !== undefined && !(isExplicit("OBJSTORE_ROOT_USER") && isExplicit("OBJSTORE_ROOT_PASSWORD"))
        ? "names an existing object storage, which needs its keys in OBJSTORE_ROOT_USER and OBJSTORE_ROOT_PASSWORD"
        : undefined,
  },
  {
    subject: "PROCESSING_STEP_FILES",
    impossible: true,
    check: ({ variables: v }) =>
      v.REQUIRE_ADES &&
      v.PROCESSING_STEP_FILES === "object-store" &&
      !v.REQUIRE_OBJSTORE &&
      v.OBJSTORE_ENDPOINT === undefined
        ? "is object-store, and there is no object storage: set REQUIRE_OBJSTORE=true, or OBJSTORE_ENDPOINT"
        : undefined,
  },
  {
    subject: "PROCESSING_STEP_ACCESS_KEY",
    impossible: true,
    check: ({ variables: v }) =>
      (v.PROCESSING_STEP_ACCESS_KEY === undefined) === (v.PROCESSING_STEP_SECRET_KEY === undefined)
        ? undefined
        : "and PROCESSING_STEP_SECRET_KEY are one key: set both or none",
  },
  {
    subject: "PROCESSING_STEP_ACCESS_KEY",
    check: ({ variables: v }) =>
      v.PROCESSING_STEP_ACCESS_KEY !== undefined && v.OBJSTORE_ENDPOINT === undefined
        ? "is not used: the deployed object storage gets a key of that bucket by itself"
        : undefined,
  },
  {
    subject: "PROCESSING_STEP_FILES",
    check: ({ variables: v }) =>
      v.REQUIRE_ADES &&
      v.PROCESSING_STEP_FILES === "object-store" &&
      v.OBJSTORE_ENDPOINT !== undefined &&
      v.PROCESSING_STEP_ACCESS_KEY === undefined
        ? "gives every node the keys of OBJSTORE_ROOT_USER; set PROCESSING_STEP_ACCESS_KEY and PROCESSING_STEP_SECRET_KEY to a key of the bucket processing-steps alone"
        : undefined,
  },
  ...(["REQUIRE_IDENTITY_SERVICE", "REQUIRE_LOGIN_SERVICE"] as const).map((deployed): ContradictionRule => ({
    subject: "IDENTITY_ISSUER_URL",
    impossible: true,
    check: ({ variables: v, isExplicit }) =>
      v.IDENTITY_ISSUER_URL !== undefined && v[deployed] && isExplicit(deployed)
        ? `names an existing issuer while ${deployed}=true asks to deploy one; set one of them`
        : undefined,
  })),
  {
    subject: "REQUIRE_PORTAL",
    check: (input) =>
      input.variables.REQUIRE_PORTAL && !hasIdentity(input)
        ? "is true, but there is no identity service: nobody can log in to the portal"
        : undefined,
  },
  ...(["REQUIRE_APPLICATION_HUB", "REQUIRE_PDE"] as const).map((subject): ContradictionRule => ({
    subject,
    check: (input) =>
      input.variables[subject] && input.isExplicit(subject) && !hasIdentity(input)
        ? "is true, but there is no identity service: nobody can log in there"
        : undefined,
  })),
  ...(["REQUIRE_PDP", "REQUIRE_USER_PROFILE"] as const).map((subject): ContradictionRule => ({
    subject,
    check: ({ config, variables: v, isExplicit }) =>
      config.variant === "B" && v[subject] && isExplicit(subject) && !v.REQUIRE_LOGIN_SERVICE
        ? "is true, but REQUIRE_LOGIN_SERVICE is false: it is a part of the login service, and is not deployed"
        : undefined,
  })),
  {
    subject: "REQUIRE_REGISTRATION_API",
    check: ({ variables: v, isExplicit }) =>
      v.REQUIRE_REGISTRATION_API && isExplicit("REQUIRE_REGISTRATION_API") && !v.REQUIRE_RESOURCE_CATALOGUE
        ? "is true, but REQUIRE_RESOURCE_CATALOGUE is false: there is nothing to register in, and no registration API"
        : undefined,
  },
  {
    subject: "CLOUDDATA_DATA_SPECIFICATION",
    check: ({ variables: v }) =>
      v.CLOUDDATA_DATA_SPECIFICATION && !v.REQUIRE_RESOURCE_CATALOGUE
        ? "is true, but REQUIRE_RESOURCE_CATALOGUE is false: nothing is harvested"
        : undefined,
  },
];
