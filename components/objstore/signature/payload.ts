import { S3Error } from "../errors.ts";
import type { HmacKey } from "./signing-key.ts";

/** How the body of a request is protected. */
export type Payload =
  | { readonly kind: "unsigned" }
  /** Its SHA-256, hex. */
  | { readonly kind: "hashed"; readonly sha256: string }
  /** `aws-chunked` framing; with `signing`, every chunk carries a signature that continues the request's. */
  | { readonly kind: "chunked"; readonly trailer: boolean; readonly signing?: ChunkSigning };

export interface ChunkSigning {
  readonly key: HmacKey;
  readonly time: string;
  readonly scope: string;
  /** Signature of the request, from which the chain of chunks starts. */
  readonly seed: string;
}

/** Reads `x-amz-content-sha256` of a request signed in its headers. */
export function toPayload(value: string | undefined, signing: ChunkSigning): Payload {
  switch (value) {
    case undefined:
      throw new S3Error("MissingSecurityHeader", "The header x-amz-content-sha256 is missing.");
    case "UNSIGNED-PAYLOAD":
      return { kind: "unsigned" };
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
      return { kind: "chunked", trailer: false, signing };
    case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
      return { kind: "chunked", trailer: true, signing };
    case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
      return { kind: "chunked", trailer: true };
    default:
      if (/^[0-9a-f]{64}$/.test(value)) {
        return { kind: "hashed", sha256: value };
      }
      if (value.startsWith("STREAMING-")) {
        throw new S3Error("NotImplemented", `x-amz-content-sha256 of kind ${value.slice(0, 60)} is not supported.`);
      }
      throw new S3Error(
        "InvalidArgument",
        "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING-… value or a valid sha256 value.",
        { details: { ArgumentName: "x-amz-content-sha256", ArgumentValue: value.slice(0, 100) } },
      );
  }
}
