/** `bytes 100-199/200`; undefined when it says something else. */
export function parseContentRange(
  text: string | undefined,
): { readonly start: number; readonly total?: number } | undefined {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(text ?? "");
  if (match === null) {
    return undefined;
  }
  return { start: Number(match[1]), ...(match[2] !== "*" && { total: Number(match[2]) }) };
}

/**
 * MD5 of the whole file in hexadecimal: `Content-MD5` (of a whole answer), or the ETag of an object store, which is the MD5 of
 * an object that was uploaded in one part and is not encrypted with a key of the customer.
 */
export function toMd5(header: (name: string) => string | undefined): string | undefined {
  const md5 = header("content-md5");
  if (md5 !== undefined && header("content-range") === undefined) {
    const bytes = Buffer.from(md5, "base64");
    return bytes.length === 16 ? bytes.toString("hex") : undefined;
  }
  return header("x-amz-request-id") === undefined ? undefined : toObjectMd5(header);
}

/** The MD5 that an object store's ETag is, unless it stands for several parts or for encrypted bytes. */
export function toObjectMd5(header: (name: string) => string | undefined): string | undefined {
  const encryption = header("x-amz-server-side-encryption");
  const isPlain =
    (encryption === undefined || encryption === "AES256") &&
    header("x-amz-server-side-encryption-customer-algorithm") === undefined;
  return isPlain ? /^"?([0-9a-f]{32})"?$/i.exec(header("etag") ?? "")?.[1]?.toLowerCase() : undefined;
}

/** A member that is left out where there is no value. */
export const optional = <K extends string>(name: K, value: string | undefined): { readonly [N in K]?: string } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [N in K]?: string });
