export const encodeJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The bytes of base64url as RFC 7515 §2 writes it: no padding, no other characters, no bits left over. */
export function decodeBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}
