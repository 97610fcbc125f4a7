import type { PlatformSecret, Variables } from "@swath/manifest";
import { derived, type Fallback, type RuleContext } from "../define.ts";

const OWN_RULE =
  "where only this machine reaches the ingress, otherwise generated once, kept, and shown by `swath credentials`";

/**
 * `example` while nobody but this machine can try it; a secret of the deployment's own as soon as others can.
 * `bytes` of randomness go into the generated one.
 */
export function defaultSecret(name: keyof Variables, example = "changeme", bytes = 18): Fallback<PlatformSecret> {
  return derived(`${example} ${OWN_RULE}`, (context) => findOwnSecret(context, { name, example, bytes }));
}

/**
 * The operator's IDENTITY_SERVICE_DEFAULT_SECRET, as the documentation of the variable promises. Without one every variable has
 * a secret of its own, so that one leaked secret opens one door.
 */
export function identitySecret(name: keyof Variables): Fallback<PlatformSecret> {
  return derived(
    `changeme ${OWN_RULE}, apart from every other; where IDENTITY_SERVICE_DEFAULT_SECRET is set, its value`,
    (context) =>
      context.isExplicit("IDENTITY_SERVICE_DEFAULT_SECRET")
        ? context.get("IDENTITY_SERVICE_DEFAULT_SECRET")
        : findOwnSecret(context, { name, example: "changeme", bytes: 18 }),
  );
}

function findOwnSecret(
  { onLoopback }: RuleContext,
  { name, example, bytes }: { readonly name: keyof Variables; readonly example: string; readonly bytes: number },
): PlatformSecret {
  return onLoopback() ? { kind: "given", value: example } : { kind: "generated", name, bytes };
}
