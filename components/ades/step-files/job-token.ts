import { createHmac, timingSafeEqual } from "node:crypto";

const TOKEN = /^([a-z0-9-]{1,63})\.(\d{1,15})\.([\w-]{43})$/;

/** Opens the files of one job at the blob agents, until `expiresAt` (seconds since 1970). */
export const createJobToken = (secret: string, job: string, expiresAt: number): string =>
  `${job}.${expiresAt}.${sign(secret, job, expiresAt)}`;

/** The job that a token opens; `undefined` where it opens none. @param secrets one, or two while it is being changed */
export function readJobToken(
  secrets: readonly (string | undefined)[],
  token: string,
  now = Date.now() / 1000,
): string | undefined {
  const [, job = "", expiry = "", shown = ""] = TOKEN.exec(token) ?? [];
  const expiresAt = Number(expiry);
  const isSigned = secrets
    .filter((secret) => secret !== undefined && secret !== "")
    .map((secret) => timingSafeEqual(pad(shown), Buffer.from(sign(secret as string, job, expiresAt))))
    .includes(true);
  return isSigned && expiresAt > now ? job : undefined;
}

const sign = (secret: string, job: string, expiresAt: number): string =>
  createHmac("sha256", secret).update(`step files\n${job}\n${expiresAt}`).digest("base64url");

/** Of the length of a signature, whatever was shown. */
const pad = (text: string): Buffer => Buffer.from(text.padEnd(43, " ").slice(0, 43));
