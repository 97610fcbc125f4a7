import { Hash } from "@smithy/hash-node";
import { SignatureV4 } from "@smithy/signature-v4";

import { encodeUri } from "./object-url.ts";

interface S3SignerOptions {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
  readonly region: string;
}

interface RequestToSign {
  /** GET when left out. */
  readonly method?: string;
  /** As `toObjectUrl` makes it; an http or https URL. */
  readonly url: string;
  /** Signed as well, except `accept-encoding` and those that Signature Version 4 never signs (`user-agent`). */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time of the signature; now when left out. */
  readonly at?: Date;
}

interface SignOptions extends RequestToSign {
  /** SHA-256 of the body in hexadecimal, which the storage checks. Left out: the signature says nothing of the body. */
  readonly bodySha256?: string;
}

interface PresignOptions extends RequestToSign {
  /** How long the URL is good for: 1 to 604800. */
  readonly seconds: number;
}

/** Signs requests to an S3 storage: AWS Signature Version 4 in its form for S3, which encodes a path once. */
export interface S3Signer {
  /**
   * The given headers and those of the signature. `host` is signed and left out: the client sends that of the URL.
   * @throws {URIError} for a URL with a broken escape
   */
  readonly sign: (request: SignOptions) => Promise<Record<string, string>>;
  /**
   * A URL that lets its holder do the request until it expires. Headers that are given must be sent with it.
   * @throws {URIError} for a URL with a broken escape
   */
  readonly presign: (request: PresignOptions) => Promise<string>;
}

const PAYLOAD_HEADER = "x-amz-content-sha256";
const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";

/** Proxies change it. */
const UNSIGNED_HEADERS = new Set(["accept-encoding"]);

export function createS3Signer({ accessKeyId, secretAccessKey, sessionToken, region }: S3SignerOptions): S3Signer {
  const signer = new SignatureV4({
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    region,
    service: "s3",
    sha256: Hash.bind(null, "sha256"),
    uriEscapePath: false,
  });
  return {
    sign: async ({ method = "GET", url, headers = {}, bodySha256 = UNSIGNED_PAYLOAD, at = new Date() }) => {
      const request = toRequest({ method, url, headers, bodySha256 });
      const signed = await signer.sign(request, { signingDate: at, unsignableHeaders: UNSIGNED_HEADERS });
      const { host: _, ...rest } = signed.headers;
      return rest;
    },
    presign: async ({ method = "GET", url, headers = {}, seconds, at = new Date() }) => {
      const request = toRequest({ method, url, headers, bodySha256: UNSIGNED_PAYLOAD });
      const { query = {} } = await signer.presign(request, {
        signingDate: at,
        expiresIn: seconds,
        // Headers that became parameters would be another request to the storage; that of the payload is for the signature alone.
        unhoistableHeaders: new Set([PAYLOAD_HEADER, ...Object.keys(headers).map((name) => name.toLowerCase())]),
        unsignableHeaders: new Set([PAYLOAD_HEADER, ...UNSIGNED_HEADERS]),
      });
      const search = Object.entries(query).map(([name, value]) => `${encodeUri(name)}=${encodeUri(String(value))}`);
      return `${request.protocol}//${request.headers["host"]}${request.path}?${search.join("&")}`;
    },
  };
}

function toRequest({ method, url, headers, bodySha256 }: Required<Omit<SignOptions, "at">>) {
  const [, origin = "", path = "", search = ""] = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
  const { protocol, host, hostname } = new URL(origin);
  return {
    method,
    protocol,
    hostname,
    path: `/${path.replace(/^\//, "").split("/").map(decodeURIComponent).map(encodeUri).join("/")}`,
    query: Object.fromEntries(new URLSearchParams(search)),
    headers: { ...headers, host, [PAYLOAD_HEADER]: bodySha256 },
  };
}
