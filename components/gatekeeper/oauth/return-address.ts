import { canonicalizePath } from "../canonical/canonical-path.ts";
import { Refusal } from "../errors.ts";
import { isOwnOrigin } from "@swath/auth";

/**
 * Where to send a browser afterwards, from a parameter that anyone may have written: a path of the same host, or an address
 * of the deployment's own domain over http or https. Nothing else: a link to us must not lead to strangers.
 * @returns an absolute address
 * @throws {Refusal} BAD_PARAMETER
 */
export function readReturnAddress(parameter: string, base: string, domain: string): string {
  // Backslashes and control characters are where browsers and parsers disagree about what the host is.
  if (!/^[\x21-\x7e]{1,2000}$/.test(parameter) || parameter.includes("\\")) {
    throw refuse();
  }
  if (parameter.startsWith("/") && !parameter.startsWith("//")) {
    const [path = "", ...rest] = parameter.split("?");
    const query = rest.length === 0 ? "" : `?${rest.join("?")}`;
    return `${base}${canonicalizePath(path.split("#", 1)[0] ?? "/").encoded}${query.split("#", 1)[0]}`;
  }
  if (!/^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(parameter) || !URL.canParse(parameter)) {
    throw refuse();
  }
  const address = new URL(parameter);
  const downgrade = base.startsWith("https:") && address.protocol !== "https:";
  if (!isOwnOrigin(address.origin, domain) || address.username !== "" || downgrade) {
    throw refuse();
  }
  return address.href;
}

function refuse(): Refusal {
  return new Refusal("BAD_PARAMETER", { because: "redirect must be a path, or an address of this deployment" });
}
