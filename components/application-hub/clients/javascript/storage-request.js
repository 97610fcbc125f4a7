// @ts-check
/** Requests to an S3 storage, with what every JavaScript has. */

import { reach } from "./reach.js";

/** @typedef {{ endpoint: string, region: string, accessKey: string, secretKey: string, sessionToken?: string, via?: string }} StorageKeys `via`: where requests go, where that is not the endpoint they are signed for */

/**
 * A request with AWS Signature Version 4.
 * @param {StorageKeys} keys
 * @param {{ method: string, bucket: string, key: string, query?: Record<string, string>, body?: Uint8Array }} request
 * @returns {Promise<Response>}
 */
export async function sendToStorage(keys, { method, bucket, key, query = {}, body = new Uint8Array() }) {
  const { host } = new URL(keys.endpoint);
  const path = `/${[bucket, ...(key === "" ? [] : key.split("/"))].map(escapePart).join("/")}`;
  const text = Object.entries(query)
    .map(([name, value]) => `${escapePart(name)}=${escapePart(value)}`)
    .toSorted()
    .join("&");
  const moment = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  /** @type {Record<string, string>} */
  const signed = {
    host,
    "x-amz-content-sha256": await sha256(body),
    "x-amz-date": moment,
    ...(keys.sessionToken !== undefined && { "x-amz-security-token": keys.sessionToken }),
  };
  const names = Object.keys(signed).toSorted();
  const canonical = [
    method,
    path,
    text,
    ...names.map((name) => `${name}:${signed[name]}`),
    "",
    names.join(";"),
    signed["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${moment.slice(0, 8)}/${keys.region}/s3/aws4_request`;
  const wanted = ["AWS4-HMAC-SHA256", moment, scope, await sha256(new TextEncoder().encode(canonical))].join("\n");
  let key4 = new TextEncoder().encode(`AWS4${keys.secretKey}`);
  for (const part of [moment.slice(0, 8), keys.region, "s3", "aws4_request"]) {
    key4 = await hmac(key4, part);
  }
  const signature = toHex(await hmac(key4, wanted));
  const { host: _host, ...headers } = signed;
  const url = `${keys.via ?? keys.endpoint}${path}${text === "" ? "" : `?${text}`}`;
  return reach(url, {
    method,
    headers: {
      ...headers,
      authorization: `AWS4-HMAC-SHA256 Credential=${keys.accessKey}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
    },
    ...(method === "PUT" && { body: /** @type {Uint8Array<ArrayBuffer>} */ (body) }),
  });
}

/** @param {string} part */
const escapePart = (part) =>
  encodeURIComponent(part).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** @param {Uint8Array} bytes */
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {Uint8Array} bytes */
const sha256 = async (bytes) =>
  toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {Uint8Array<ArrayBuffer>} */ (bytes))));

/** @param {Uint8Array} key @param {string} text */
async function hmac(key, text) {
  const imported = await crypto.subtle.importKey(
    "raw",
    /** @type {Uint8Array<ArrayBuffer>} */ (key),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(text)));
}
