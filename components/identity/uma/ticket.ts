import { createHmac, timingSafeEqual } from "node:crypto";

import type { RealmHandle } from "../realms/realm-cache.ts";
import { encodeJson, parseJson } from "../tokens/key-set.ts";

/** What a resource server wants for somebody (UMA 2.0 Federated Authorization §4): good for some minutes, stored nowhere. */
export interface Ticket {
  /** Client id of the resource server. */
  readonly audience: string;
  /** `resource#scope,scope`. */
  readonly permissions: readonly string[];
}

const SECONDS = 300;

export function signTicket({ realm, issuer }: RealmHandle, ticket: Ticket): string {
  const payload = encodeJson({ ...ticket, iss: issuer, exp: Math.floor(Date.now() / 1000) + SECONDS });
  return `${payload}.${mac(realm.secret, payload).toString("base64url")}`;
}

export function readTicket({ realm, issuer }: RealmHandle, text: string): Ticket | undefined {
  const [payload = "", signature = ""] = text.split(".");
  const given = Buffer.from(signature, "base64url");
  const wanted = mac(realm.secret, payload);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    return undefined;
  }
  const claims = parseJson(payload);
  return claims !== undefined && claims["iss"] === issuer && Number(claims["exp"]) > Date.now() / 1000
    ? (claims as unknown as Ticket)
    : undefined;
}

function mac(secret: string, payload: string): Buffer {
  return createHmac("sha256", `ticket ${secret}`).update(payload).digest();
}
