import { createHmac, timingSafeEqual } from "node:crypto";

import type { Realm } from "../store/realms.ts";

/** Field name of the token that every form carries. */
export const FORM_TOKEN = "form_token";

/**
 * Proves that a form was made by this service for this session and purpose: another site can neither read nor make it
 * (OWASP: signed double submit, bound to the session).
 */
export function makeFormToken({ secret }: Realm, purpose: string, session: string): string {
  return createHmac("sha256", `form ${secret}`).update(`${purpose}\n${session}`).digest("base64url");
}

export function isFormToken(realm: Realm, purpose: string, session: string, provided: unknown): boolean {
  if (typeof provided !== "string") {
    return false;
  }
  const requested = Buffer.from(makeFormToken(realm, purpose, session));
  const shown = Buffer.from(provided);
  return shown.length === requested.length && timingSafeEqual(shown, requested);
}
