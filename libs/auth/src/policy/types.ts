import type { RuleNode } from "./rules.ts";

/** How the votes of several policies or permissions become one decision. */
export type DecisionStrategy = "UNANIMOUS" | "AFFIRMATIVE" | "CONSENSUS";

/** `NEGATIVE` turns the outcome of a policy round. */
export type Logic = "POSITIVE" | "NEGATIVE";

/**
 * `ENFORCING`: what no permission covers is refused. `PERMISSIVE`: what no permission covers is allowed to any valid
 * token. `DISABLED`: any valid token is enough.
 */
export type EnforcementMode = "ENFORCING" | "PERMISSIVE" | "DISABLED";

/**
 * Everything that decides who may use the paths of one resource server (an identity client). Plain JSON: this is also
 * what the identity service hands to its enforcement points.
 */
export interface PolicySet {
  /** Changes whenever anything below changes. */
  readonly version: string;
  /** Client id of the resource server. */
  readonly clientId: string;
  readonly enforcementMode: EnforcementMode;
  /** How several permissions on one resource are combined. */
  readonly decisionStrategy: DecisionStrategy;
  readonly resources: readonly Resource[];
  readonly policies: readonly Policy[];
  readonly permissions: readonly Permission[];
}

/** Something protected, known by path patterns; see `compileUriPattern`. */
export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly uris: readonly string[];
  readonly type?: string;
  readonly scopes: readonly string[];
  /** Subject id of a user who owns it; with `ownerManagedAccess` the owner needs no permission. */
  readonly owner?: string;
  readonly ownerManagedAccess?: boolean;
}

/** Ties policies to resources (`resource`) or to scopes, of certain resources or of all (`scope`). */
export interface Permission {
  readonly id: string;
  readonly name: string;
  readonly type: "resource" | "scope";
  /** Resource ids. A scope permission without any, and without a type, applies to every resource. */
  readonly resources: readonly string[];
  /** All resources of this type too. */
  readonly resourceType?: string;
  /** Scope names; unused by resource permissions. */
  readonly scopes: readonly string[];
  /** Policy ids. */
  readonly policies: readonly string[];
  readonly decisionStrategy: DecisionStrategy;
  /**
   * The owner of the resource shares it so. Such a permission counts while the resource is managed by its owner, and only adds: it
   * grants beside what the others say and refuses nothing.
   */
  readonly byOwner?: boolean;
}

interface PolicyBase {
  readonly id: string;
  readonly name: string;
  /** `POSITIVE` when left out. */
  readonly logic?: Logic;
}

export type Policy = PolicyBase & PolicyRule;

/** The rule of a policy, by type. */
export type PolicyRule =
  /** Any valid token. */
  | { readonly type: "authenticated" }
  /** One of these users: ids (`sub`), or user names. One never stands for the other: user names are chosen by people. */
  | { readonly type: "user"; readonly users: readonly string[]; readonly usernames?: readonly string[] }
  /** All roles marked required, and at least one of the list. */
  | { readonly type: "role"; readonly roles: readonly RoleReference[] }
  /** Tokens issued to one of these clients. */
  | { readonly type: "client"; readonly clients: readonly string[] }
  /** Members of one of these groups, given by path. */
  | { readonly type: "group"; readonly groups: readonly GroupReference[] }
  /** Other policies combined. */
  | { readonly type: "aggregated"; readonly policies: readonly string[]; readonly decisionStrategy: DecisionStrategy }
  | ({ readonly type: "time" } & TimeWindow)
  /** Conditions on attributes of who asks (variant B), for those among `acceptedBy` where terms must be accepted first. */
  | { readonly type: "rules"; readonly rules: readonly RuleNode[]; readonly acceptedBy?: readonly string[] }
  /** The whole value of a token claim (dots reach into objects) or request attribute matches a regular expression. */
  | {
      readonly type: "regex";
      readonly targetClaim: string;
      readonly pattern: string;
      readonly targetContextAttributes?: boolean;
    };

export interface RoleReference {
  readonly role: string;
  /** Client id for a client role; a realm role when left out. */
  readonly client?: string;
  readonly required?: boolean;
}

export interface GroupReference {
  /** `/projects/forest`. */
  readonly path: string;
  /** Members of groups below it too. */
  readonly extendChildren?: boolean;
}

/** Every bound is optional and inclusive, in UTC; without its `…End` a part must be equal. Bounds do not wrap around. */
export interface TimeWindow {
  /** ISO 8601 instants: from, and until (exclusive). */
  readonly notBefore?: string;
  readonly notOnOrAfter?: string;
  readonly year?: number;
  readonly yearEnd?: number;
  /** 1 is January. */
  readonly month?: number;
  readonly monthEnd?: number;
  readonly dayMonth?: number;
  readonly dayMonthEnd?: number;
  readonly hour?: number;
  readonly hourEnd?: number;
  readonly minute?: number;
  readonly minuteEnd?: number;
}

/** Who asks, as a verified token says. */
export interface Identity {
  /** Claim `sub`. */
  readonly userId: string;
  readonly username?: string;
  /** The client the token was issued to, claim `azp`. */
  readonly clientId?: string;
  readonly realmRoles: readonly string[];
  /** Client id to the names of its roles. */
  readonly clientRoles: Readonly<Record<string, readonly string[]>>;
  /** Group paths. */
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
}

/** What a decision is made in view of. */
export interface EvaluationContext {
  readonly identity: Identity;
  readonly now: Date;
  /** HTTP method of the request, for resources whose scopes are methods. */
  readonly method?: string;
  /** Facts of the request that regex policies may look at. */
  readonly attributes?: Readonly<Record<string, string>>;
}
