import { TokenError, type TokenVerifier, readRequestTokens } from "@swath/auth";
import { type Peer, readBody } from "@swath/service";
import type { IncomingMessage, ServerResponse } from "node:http";

import { Refusal } from "../errors.ts";
import type { ProtectedHost } from "../hosts.ts";
import { respond } from "../respond.ts";
import { basicAuthorization } from "../tokens/credentials.ts";

const MAX_BODY_BYTES = 65_536;
const TIMEOUT_MS = 10_000;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** `/resources` of the known enforcement point: the identity service keeps them, and decides who may change which. */
export async function passResources(
  { peer, realm, verifier }: { readonly peer: Peer; readonly realm: string; readonly verifier: TokenVerifier },
  { credentials }: ProtectedHost,
  request: IncomingMessage,
  response: ServerResponse,
  rest: string,
): Promise<void> {
  const method = request.method ?? "GET";
  if (!METHODS.includes(method)) {
    throw new Refusal("METHOD", { headers: { allow: METHODS.join(", ") } });
  }
  const hasBody = ["POST", "PUT", "PATCH"].includes(method);
  if (hasBody && !/^application\/([\w.-]+\+)?json\b/i.test(request.headers["content-type"] ?? "")) {
    respond(request, response, { status: 415, headers: { error: "the body must be application/json" } });
    return;
  }
  const token = await chooseToken(verifier, readRequestTokens(request.headers, true));
  const body = hasBody ? await readText(request) : undefined;
  const path = `/internal/realms/${encodeURIComponent(realm)}/clients/${encodeURIComponent(credentials.clientId)}/enforcement/resources${rest}`;
  const reply = await peer
    .fetch(path, {
      method,
      headers: {
        authorization: basicAuthorization(credentials),
        ...(token !== undefined && token !== "" && { "x-user-id": token }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
      timeout: TIMEOUT_MS,
    })
    .catch((cause: unknown) => {
      throw new Refusal("ISSUER_UNAVAILABLE", { cause });
    });
  const error = reply.headers.get("error");
  respond(request, response, {
    status: reply.status,
    type: reply.headers.get("content-type") ?? "application/json",
    body: await reply.text(),
    ...(error !== null && { headers: { error } }),
  });
}

/** The first token that is good; the identity service refuses the first one when none is. */
async function chooseToken(verifier: TokenVerifier, tokens: readonly string[]): Promise<string | undefined> {
  if (tokens.length < 2) {
    return tokens[0];
  }
  for (const token of tokens) {
    try {
      await verifier.verify(token);
      return token;
    } catch (error) {
      if (!(error instanceof TokenError)) {
        throw new Refusal("ISSUER_UNAVAILABLE", { cause: error });
      }
    }
  }
  return tokens[0];
}

async function readText(request: IncomingMessage): Promise<string> {
  const tooLarge = () => new Refusal("BAD_PARAMETER", { because: `the body is larger than ${MAX_BODY_BYTES} bytes` });
  return (await readBody(request, { maxBytes: MAX_BODY_BYTES, tooLarge })).toString("utf8");
}
