import type { Variables } from "@swath/manifest";
import type { MachineFacts } from "../facts.ts";
import type { Config } from "../config.ts";

export interface ContradictionInput {
  readonly config: Config;
  readonly variables: Variables;
  readonly isExplicit: (name: keyof Variables) => boolean;
  readonly facts: MachineFacts;
  /** What the variable would be if nobody had set it. */
  readonly defaultOf: (name: keyof Variables) => unknown;
}

/** Looks at a whole configuration for one thing that does not go together. */
export interface ContradictionRule {
  /** The variable or argument to change. */
  readonly subject: keyof Variables | "domain" | "public-ip";
  /** A mistake, which stops the deployment, rather than a warning. */
  readonly impossible?: true;
  /** What is wrong and what to do, or undefined. */
  readonly check: (input: ContradictionInput) => string | undefined;
}

/** The identity service of the variant is deployed, or an existing issuer is named. */
export function hasIdentity({ config, variables }: Pick<ContradictionInput, "config" | "variables">): boolean {
  return config.variant === "A"
    ? variables.REQUIRE_IDENTITY_SERVICE || variables.IDENTITY_ISSUER_URL !== undefined
    : variables.REQUIRE_LOGIN_SERVICE || variables.IDENTITY_ISSUER_URL !== undefined;
}

export function isEmbedded({ variables }: Pick<ContradictionInput, "variables">): boolean {
  return variables.REQUIRE_LOCALCLUSTER && variables.LOCALCLUSTER_TOOL === "embedded";
}
