import type { Variables, Variant } from "@swath/manifest";
import type { MachineFacts } from "./facts.ts";
import type { ValueType } from "./value-types.ts";

/** Where a value comes from. */
export type Origin =
  | { readonly kind: "default" }
  | { readonly kind: "derived"; readonly rule: string }
  | { readonly kind: "environment" }
  | { readonly kind: "alias"; readonly name: string }
  | { readonly kind: "argument" }
  /** It belongs to the other variant, so it is off or has no effect. */
  | { readonly kind: "other variant" };

/** What a rule may look at: the resolved values of other variables, which of them somebody set, and where the deployment is. */
export interface RuleContext {
  readonly variant: Variant;
  readonly clusterName: string;
  /** Stem of all host names. */
  readonly domain: () => string;
  readonly publicIp: () => string;
  /** True when nobody but this machine reaches the ingress. */
  readonly onLoopback: () => boolean;
  /** True where no certificate authority of the public net could reach the hosts: a local domain or a private address. */
  readonly isPrivate: () => boolean;
  readonly get: <K extends keyof Variables>(name: K) => Variables[K];
  /** True when the operator set the variable or one of its aliases. */
  readonly isExplicit: (name: keyof Variables) => boolean;
  readonly facts: MachineFacts;
}

/** The value of a variable that nobody set: the same always, or found from others by a rule that a sentence explains. */
export type Fallback<T> =
  | { readonly value: T }
  | { readonly rule: string; readonly derive: (context: RuleContext) => T };

export interface VariableDefinition<T> {
  readonly type: ValueType<Exclude<T, undefined>>;
  /** Which variants' documentation lists it; both when left out. */
  readonly variants?: readonly Variant[];
  /** It works in the other variant too. Otherwise setting it there earns a warning, and a switch is off. */
  readonly worksInBoth?: true;
  readonly fallback: Fallback<T>;
  /** A rule stronger than what the operator set. It leaves that alone by giving undefined. */
  readonly overrule?: { readonly rule: string; readonly derive: (context: RuleContext) => T | undefined };
  /** One or two sentences for the reference page. */
  readonly meaning: string;
  /** Names the known product of this kind uses for the same thing. */
  readonly aliases?: readonly string[];
}

export type VariableTable = { readonly [K in keyof Variables]: VariableDefinition<Variables[K]> };

/** A part of the table: typed against `Variables`, so an unknown name or a wrong type of value does not compile. */
export type VariableGroup = Partial<VariableTable>;

export function fixed<const T>(value: T): Fallback<T> {
  return { value };
}

export function derived<T>(rule: string, derive: (context: RuleContext) => T): Fallback<T> {
  return { rule, derive };
}

export function sameAs<K extends keyof Variables>(name: K): Fallback<Variables[K]> {
  return { rule: `value of ${name}`, derive: ({ get }) => get(name) };
}
