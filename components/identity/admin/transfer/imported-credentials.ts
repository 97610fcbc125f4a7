import { Secret } from "otpauth";

import { MAX_PASSWORD } from "../../login/hasher.ts";
import { type Pbkdf2Digest, PBKDF2_DIGESTS, toPbkdf2Text, toPhcText } from "../../login/imported-hash.ts";
import { readText } from "../request.ts";

type Body = Readonly<Record<string, unknown>>;

/** What an account of another identity service logs in with, as far as it can be taken over. */
export type ImportedCredential =
  /** In clear text: `findPlainPassword`. */
  | { readonly kind: "password"; readonly temporary: boolean }
  | { readonly kind: "hash"; readonly hash: string; readonly temporary: boolean }
  /** Base32. */
  | { readonly kind: "otp"; readonly secret: string; readonly label: string }
  | { readonly kind: "unsupported"; readonly why: string };

/** Bounds of what one login may cost: whoever imports a hash chooses what its comparison takes. */
const MAX_PBKDF2_ITERATIONS = 2_000_000;
const MAX_ARGON2 = { memoryKiB: 256 << 10, passes: 20, lanes: 16 };
const ARGON2_VERSIONS = new Map([
  ["1.0", 16],
  ["1.3", 19],
]);

const unsupported = (why: string): ImportedCredential => ({ kind: "unsupported", why });

/** Reads a CredentialRepresentation of Keycloak: a password in clear, its hash in `secretData`, or a generator of one-time codes. */
export function readImportedCredential(source: Body): ImportedCredential {
  const type = readText(source, "type") ?? "";
  const temporary = source["temporary"] === true;
  if (findPlainPassword(source) !== undefined) {
    return { kind: "password", temporary };
  }
  const secret = readData(source["secretData"]);
  const settings = readData(source["credentialData"]);
  if (secret === undefined || settings === undefined) {
    return unsupported(`its ${type || "credential"} lacks secretData or credentialData`);
  }
  if (type === "password") {
    return readHash(secret, settings, temporary);
  }
  if (type === "otp" || type === "totp") {
    return readOtp(secret, settings, readText(source, "userLabel") ?? "");
  }
  return unsupported(`credentials of the type ${type || "(none)"} are not taken over`);
}

/** The password that a credential has in clear text. */
export function findPlainPassword({ type, value }: Body): string | undefined {
  return type === "password" && typeof value === "string" && value.length <= MAX_PASSWORD ? value : undefined;
}

function readHash(secret: Body, settings: Body, temporary: boolean): ImportedCredential {
  const salt = readBase64(secret["salt"], 1, 64);
  const hash = readBase64(secret["value"], 16, 128);
  const algorithm = typeof settings["algorithm"] === "string" ? settings["algorithm"] : "";
  const iterations = Number(settings["hashIterations"]);
  if (salt === undefined || hash === undefined) {
    return unsupported("the hash of its password cannot be read");
  }
  const digest = algorithm === "pbkdf2" ? "sha1" : algorithm.replace(/^pbkdf2-/, "");
  if (algorithm.startsWith("pbkdf2") && PBKDF2_DIGESTS.some((known) => known === digest)) {
    return isWithin(iterations, MAX_PBKDF2_ITERATIONS)
      ? { kind: "hash", hash: toPbkdf2Text(digest as Pbkdf2Digest, iterations, salt, hash), temporary }
      : unsupported(`its password was hashed with ${String(settings["hashIterations"])} iterations`);
  }
  if (algorithm !== "argon2") {
    return unsupported(`its password was hashed with ${JSON.stringify(algorithm)}`);
  }
  const parameters = readData(settings["additionalParameters"]) ?? {};
  const first = (name: string): string => {
    const [value] = [parameters[name]].flat();
    return typeof value === "string" ? value : "";
  };
  const kind = first("type") || "id";
  const version = ARGON2_VERSIONS.get(first("version") || "1.3");
  const [memory, lanes] = [Number(first("memory")), Number(first("parallelism") || "1")];
  const isBounded =
    isWithin(memory, MAX_ARGON2.memoryKiB) &&
    isWithin(iterations, MAX_ARGON2.passes) &&
    isWithin(lanes, MAX_ARGON2.lanes);
  if (!["id", "i", "d"].includes(kind) || version === undefined || !isBounded) {
    return unsupported("its password was hashed with parameters of argon2 that are not taken");
  }
  const text = `$argon2${kind}$v=${version}$m=${memory},t=${iterations},p=${lanes}$${toPhcText(salt)}$${toPhcText(hash)}`;
  return { kind: "hash", hash: text, temporary };
}

/** One-time codes as every program makes them (RFC 6238: SHA-1, six digits, 30 s). */
function readOtp(secret: Body, settings: Body, label: string): ImportedCredential {
  const { subType, digits = 6, period = 30, algorithm = "HmacSHA1", secretEncoding } = settings;
  if (subType !== "totp" || digits !== 6 || period !== 30 || algorithm !== "HmacSHA1") {
    return unsupported(
      `its one-time codes are of another kind (${String(subType)}, ${String(algorithm)}, ${String(digits)} digits, ${String(period)} s)`,
    );
  }
  const value = typeof secret["value"] === "string" ? secret["value"] : "";
  if (value.length < 10 || value.length > 128) {
    return unsupported("the secret of its one-time codes cannot be read");
  }
  // Without an encoding the key is the text itself.
  const isBase32 = secretEncoding === "BASE32";
  if (isBase32 && !/^[A-Z2-7]+=*$/.test(value)) {
    return unsupported("the secret of its one-time codes is not Base32");
  }
  const key = isBase32 ? Secret.fromBase32(value) : Secret.fromUTF8(value);
  return { kind: "otp", secret: key.base32, label: label || "Imported device" };
}

const isWithin = (value: number, maximum: number): boolean => Number.isInteger(value) && value >= 1 && value <= maximum;

/** `secretData` and `credentialData` are objects, or texts of JSON. */
function readData(value: unknown): Body | undefined {
  if (typeof value === "string" && value.length <= 8192) {
    try {
      return readData(JSON.parse(value));
    } catch {
      return undefined;
    }
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Body) : undefined;
}

function readBase64(value: unknown, minimum: number, maximum: number): Buffer | undefined {
  if (typeof value !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(value) || value.length > 1024) {
    return undefined;
  }
  const bytes = Buffer.from(value, "base64");
  return bytes.length >= minimum && bytes.length <= maximum ? bytes : undefined;
}
