import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

import { S3Error } from "../errors.ts";
import type { Keyring, WrappedKey } from "../store/encryption/keyring.ts";
import { type S3Request, header } from "./request.ts";
import { childOf, parseXml, textOf } from "./xml.ts";

/** How a version is encrypted, as its row says (JSON). `seed` is of small content; files have their ids. */
export type StoredEncryption = { readonly seed: string } & (
  | { readonly kind: "AES256"; readonly key: WrappedKey }
  /** With a key that the client sends each time; `proof` tells whether it is the same one. */
  | { readonly kind: "customer"; readonly md5: string; readonly salt: string; readonly proof: string }
);

/** Encryption of something that is being written. */
export interface Encryption {
  readonly stored: StoredEncryption;
  readonly key: Buffer;
}

const CUSTOMER = "server-side-encryption-customer";

/** The key that a client sends along. @throws {S3Error} InvalidArgument, InvalidRequest */
export function readCustomerKey(
  request: S3Request,
  prefix: "x-amz-" | "x-amz-copy-source-" = "x-amz-",
): { readonly key: Buffer; readonly md5: string } | undefined {
  const algorithm = header(request, `${prefix}${CUSTOMER}-algorithm`);
  const text = header(request, `${prefix}${CUSTOMER}-key`);
  const md5 = header(request, `${prefix}${CUSTOMER}-key-md5`);
  if (algorithm === undefined && text === undefined && md5 === undefined) {
    return undefined;
  }
  if (algorithm === undefined || text === undefined || md5 === undefined) {
    throw new S3Error(
      "InvalidArgument",
      "Requests specifying Server Side Encryption with Customer provided keys must provide an algorithm, a key and its MD5.",
    );
  }
  const key = Buffer.from(text, "base64");
  if (algorithm !== "AES256" || key.length !== 32) {
    throw new S3Error("InvalidArgument", "The secret key was invalid for the specified algorithm (AES256, 32 bytes).");
  }
  if (createHash("md5").update(key).digest("base64") !== md5) {
    throw new S3Error(
      "InvalidArgument",
      "The calculated MD5 hash of the key did not match the hash that was provided.",
    );
  }
  return { key, md5 };
}

/**
 * The encryption that a write asks for, or that its bucket has by default; undefined: none.
 * @throws {S3Error} InvalidArgument, NotImplemented for keys of a key service
 */
export function readEncryption(request: S3Request, byDefault: string | null, keyring: Keyring): Encryption | undefined {
  const customer = readCustomerKey(request);
  const requested = header(request, "x-amz-server-side-encryption");
  if (customer !== undefined) {
    if (requested !== undefined) {
      throw new S3Error(
        "InvalidArgument",
        "Server Side Encryption with Customer provided key is incompatible with the encryption method specified",
      );
    }
    const salt = randomBytes(16).toString("base64");
    const stored = {
      kind: "customer",
      seed: toSeed(),
      md5: customer.md5,
      salt,
      proof: prove(customer.key, salt),
    } as const;
    return { stored, key: customer.key };
  }
  if (requested === undefined && header(request, "x-amz-server-side-encryption-aws-kms-key-id") !== undefined) {
    throw new S3Error("InvalidArgument", "A key id needs x-amz-server-side-encryption: aws:kms.");
  }
  const method = requested ?? (byDefault === null ? undefined : "AES256");
  if (method === undefined) {
    return undefined;
  }
  if (method.startsWith("aws:kms")) {
    throw new S3Error("NotImplemented", "There is no key service here; use AES256 or keys of your own.");
  }
  if (method !== "AES256") {
    throw new S3Error("InvalidArgument", "The encryption method specified is not supported", {
      details: { ArgumentName: "x-amz-server-side-encryption", ArgumentValue: method.slice(0, 100) },
    });
  }
  if (keyring.isEmpty) {
    throw new S3Error("NotImplemented", "This deployment has no keys: encryption needs OBJSTORE_ENCRYPTION_KEYS.");
  }
  return encryptByDeployment(keyring);
}

/** Encryption by a key of its own, which a key of the deployment encrypts. */
export function encryptByDeployment(keyring: Keyring): Encryption {
  const key = randomBytes(32);
  return { stored: { kind: "AES256", seed: toSeed(), key: keyring.wrap(key) }, key };
}

/**
 * The key that stored bytes are read with; undefined when they are not encrypted.
 * @throws {S3Error} InvalidRequest when the client must send its key or must not, AccessDenied when it is another
 */
export function openEncryption(
  json: string | null,
  request: S3Request,
  keyring: Keyring,
  {
    prefix = "x-amz-",
    mismatch = "AccessDenied",
  }: {
    readonly prefix?: "x-amz-" | "x-amz-copy-source-";
    /** What a wrong key is answered with: of a part, whose upload named its key, InvalidRequest. */
    readonly mismatch?: "AccessDenied" | "InvalidRequest";
  } = {},
): Encryption | undefined {
  const customer = readCustomerKey(request, prefix);
  const stored = json === null ? undefined : (JSON.parse(json) as StoredEncryption);
  if (stored?.kind !== "customer") {
    if (customer !== undefined) {
      throw new S3Error("InvalidRequest", "The encryption parameters are not applicable to this object.");
    }
    if (stored !== undefined && isRead(request) && header(request, "x-amz-server-side-encryption") !== undefined) {
      throw new S3Error("InvalidArgument", "x-amz-server-side-encryption header is not supported for this operation.");
    }
    return stored && { stored, key: keyring.unwrap(stored.key) };
  }
  if (customer === undefined) {
    throw new S3Error(
      "InvalidRequest",
      "The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.",
    );
  }
  const [found, proof] = [Buffer.from(prove(customer.key, stored.salt)), Buffer.from(stored.proof)];
  if (!timingSafeEqual(found, proof)) {
    throw new S3Error(mismatch, "The provided encryption parameters did not match the ones used originally.");
  }
  return { stored, key: customer.key };
}

function isRead({ method }: S3Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** Headers that tell how something is encrypted, names and values in turn. */
export function toEncryptionHeaders(json: string | null): readonly string[] {
  if (json === null) {
    return [];
  }
  const stored = JSON.parse(json) as StoredEncryption;
  return stored.kind === "AES256"
    ? ["x-amz-server-side-encryption", "AES256"]
    : [`x-amz-${CUSTOMER}-algorithm`, "AES256", `x-amz-${CUSTOMER}-key-md5`, stored.md5];
}

/** Reads a ServerSideEncryptionConfiguration. @throws {S3Error} MalformedXML, NotImplemented */
export function checkEncryptionConfiguration(text: string): void {
  const rule = childOf(parseXml(text, "ServerSideEncryptionConfiguration"), "Rule");
  const method = textOf(childOf(rule, "ApplyServerSideEncryptionByDefault"), "SSEAlgorithm");
  if (method?.startsWith("aws:kms") === true) {
    throw new S3Error("NotImplemented", "There is no key service here; use AES256.");
  }
  if (method !== "AES256") {
    throw new S3Error("MalformedXML");
  }
}

function toSeed(): string {
  return randomBytes(16).toString("hex");
}

function prove(key: Buffer, salt: string): string {
  return createHmac("sha256", key).update(`swath objstore ${salt}`).digest("base64");
}
