import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";

import type { RealmHandle } from "../realms/realm-cache.ts";
import { decodeBase64Url, encodeJson } from "../tokens/base64url.ts";

/** What a resource server wants for somebody (UMA 2.0 Federated Authorization §4): good once, for some minutes. */
export interface Ticket {
  /** Client id of the resource server. */
  readonly audience: string;
  /** `resource#scope,scope`. */
  readonly permissions: readonly string[];
}

interface TakenTicket extends Ticket {
  readonly jti: string;
  readonly exp: number;
}

const SECONDS = 300;

export function signTicket({ realm, issuer }: RealmHandle, ticket: Ticket): string {
  const payload = encodeJson({
    ...ticket,
    jti: randomUUID(),
    iss: issuer,
    exp: Math.floor(Date.now() / 1000) + SECONDS,
  });
  return `${payload}.${mac(realm.secret, payload).toString("base64url")}`;
}

/** Takes a ticket: it is good once (UMA 2.0 Grant §3.3.1). */
export async function takeTicket(handle: RealmHandle, text: string): Promise<Ticket | undefined> {
  const ticket = readTicket(handle, text);
  const isFirst = ticket !== undefined && (await handle.takeOnce("ticket", ticket.jti, new Date(ticket.exp * 1000)));
  return isFirst ? ticket : undefined;
}

function readTicket({ realm, issuer }: RealmHandle, text: string): TakenTicket | undefined {
  const [payload = "", signature = "", ...rest] = text.split(".");
  const provided = decodeBase64Url(signature);
  const requested = mac(realm.secret, payload);
  if (
    provided === undefined ||
    rest.length > 0 ||
    provided.length !== requested.length ||
    !timingSafeEqual(provided, requested)
  ) {
    return undefined;
  }
  // Nobody else can have signed it: it is as it was made.
  const ticket = JSON.parse(Buffer.from(payload, "base64url").toString()) as TakenTicket & { readonly iss: string };
  return ticket.iss === issuer && ticket.exp > Date.now() / 1000 ? ticket : undefined;
}

function mac(secret: string, payload: string): Buffer {
  return createHmac("sha256", `ticket ${secret}`).update(payload).digest();
}
