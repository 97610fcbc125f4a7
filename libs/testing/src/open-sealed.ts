import { type KeyObject, constants, createDecipheriv, privateDecrypt } from "node:crypto";

/** A value of a SealedSecret, as the controller of sealed-secrets opens it. `label` of the strict scope: `namespace/name`. */
export function openSealed(sealed: string, label: string, key: KeyObject): string {
  const bytes = Buffer.from(sealed, "base64");
  const end = 2 + bytes.readUInt16BE(0);
  const session = privateDecrypt(
    { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256", oaepLabel: Buffer.from(label) },
    bytes.subarray(2, end),
  );
  const decipher = createDecipheriv("aes-256-gcm", session, Buffer.alloc(12)).setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(end, -16)), decipher.final()]).toString("utf8");
}
