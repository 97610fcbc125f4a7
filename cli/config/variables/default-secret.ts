import type { PlatformSecret, Variables } from "@swath/manifest";
import { derived, type Fallback } from "../define.ts";

/**
 * `example` while nobody but this machine can try it; a secret of the deployment's own as soon as others can.
 * `bytes` of randomness go into the generated one.
 */
export function defaultSecret(name: keyof Variables, example = "changeme", bytes = 18): Fallback<PlatformSecret> {
  return derived(
    `${example} where only this machine reaches the ingress, otherwise generated once, kept, and shown by \`swath credentials\``,
    ({ onLoopback }) => (onLoopback() ? { kind: "given", value: example } : { kind: "generated", name, bytes }),
  );
}
