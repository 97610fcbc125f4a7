import type { Peer } from "@swath/service";
import type { IncomingMessage, ServerResponse } from "node:http";

import type { CanonicalRequest } from "../canonical/canonical-request.ts";
import { Refusal } from "../errors.ts";
import type { ProtectedHost } from "../hosts.ts";
import type { Guard } from "../check-request.ts";
import { authorize } from "./authorize.ts";
import { passResources } from "./resources.ts";

/** What the enforcement point's hosts need besides the guard. */
export interface Enforcement {
  /** The platform's own identity service. */
  readonly peer: Peer;
  readonly realm: string;
}

/** A request to `<service>-pep.<domain>`, the enforcement point of a service as clients of variant B know it. */
export async function handleEnforcement(
  {
    guard,
    enforcement,
    clock,
  }: { readonly guard: Guard | undefined; readonly enforcement: Enforcement | undefined; readonly clock: () => number },
  host: ProtectedHost,
  { path, query }: CanonicalRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (guard === undefined || enforcement === undefined) {
    throw new Refusal("NO_ISSUER");
  }
  const [, first, ...rest] = path.decoded.split("/");
  if (first === "authorize" && rest.every((part) => part === "")) {
    return authorize(guard, host, request, response, new Date(clock()));
  }
  if (first === "resources" && rest.length <= 1 && /^[\w-]*$/.test(rest[0] ?? "")) {
    const id = rest[0] ?? "";
    return passResources(
      { ...enforcement, verifier: guard.verifier },
      host,
      request,
      response,
      `${id === "" ? "" : `/${id}`}${query}`,
    );
  }
  throw new Refusal("UNKNOWN_PATH", { because: "there are /authorize and /resources" });
}
