import { createHash, randomInt } from "node:crypto";

import { Secret, TOTP } from "otpauth";

const STEP_SECONDS = 30;
/** Codes of the step before and the step after are right too: clocks differ, and typing takes time (RFC 6238 §5.2). */
const WINDOW = 1;
/** 160 bits, as long as the HMAC's key should be (RFC 4226 §4, R6). */
const SECRET_BYTES = 20;
const SECRET_PATTERN = /^[A-Z2-7]{32}$/;

/** A new secret of one-time codes, Base32. */
export const makeOtpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

export const isOtpSecret = (text: string): boolean => SECRET_PATTERN.test(text);

const toTotp = (secret: string, issuer = "", label = "") =>
  new TOTP({ issuer, label, secret, algorithm: "SHA1", digits: 6, period: STEP_SECONDS });

/** What authenticator programs read from a QR code (the Key URI format they share). SHA-1, six digits, 30 s: all know these. */
export const otpAddress = (secret: string, issuer: string, username: string): string =>
  toTotp(secret, issuer, username).toString();

/** The time step (30 s since 1970) whose code this is, near `now`; `undefined` when the code is wrong. */
export function findOtpStep(secret: string, code: string, now = Date.now()): number | undefined {
  if (!/^\d{6}$/.test(code)) {
    return undefined;
  }
  const delta = toTotp(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? undefined : Math.floor(now / 1000 / STEP_SECONDS) + delta;
}

const RECOVERY_CODES = 10;
/** No vowels, so that no word comes about; none that look alike. */
const LETTERS = "23456789bcdfghjkmnpqrstvwxz";
const RECOVERY_LETTERS = 12;
const RECOVERY_PATTERN = new RegExp(`^[${LETTERS}]{${RECOVERY_LETTERS}}$`);

/** New recovery codes, `xxxx-xxxx-xxxx`: 57 bits each, so a plain hash keeps them. */
export const makeRecoveryCodes = (): readonly string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    Array.from({ length: RECOVERY_LETTERS }, () => LETTERS[randomInt(LETTERS.length)])
      .join("")
      .replace(/(.{4})(?=.)/g, "$1-"),
  );

/** SHA-256 of a recovery code as people may type it; `undefined` for what cannot be one. */
export function hashRecoveryCode(code: string): string | undefined {
  const letters = code.toLowerCase().replace(/[\s-]/g, "");
  return RECOVERY_PATTERN.test(letters) ? createHash("sha256").update(letters).digest("hex") : undefined;
}
