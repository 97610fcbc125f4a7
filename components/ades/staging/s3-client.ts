import { Agent } from "node:http";
import { rootCertificates } from "node:tls";

import { S3Client } from "@aws-sdk/client-s3";
import { parsePeerUrl } from "@swath/service";

import type { S3Endpoint } from "./types.ts";

/**
 * A client for an object store. It tries each request once: the callers decide what is worth another attempt. Checksums that
 * not every object store knows are left out; signed payloads protect what is sent.
 */
export function createS3Client(
  target: S3Endpoint,
  { connections, stallSeconds }: { readonly connections: number; readonly stallSeconds: number },
): S3Client {
  const { origin, prefix, socketPath } = parsePeerUrl(target.endpoint);
  const requestHandler = {
    connectionTimeout: 20_000,
    socketTimeout: stallSeconds * 1000,
    ...(socketPath === undefined
      ? {
          httpAgent: { keepAlive: true, maxSockets: connections },
          httpsAgent: { keepAlive: true, maxSockets: connections, ...trust(target.certificateAuthority) },
        }
      : // `socketPath` reaches net.connect through the agent; its type does not say so.
        {
          httpAgent: new Agent({ keepAlive: true, maxSockets: connections, socketPath } as ConstructorParameters<
            typeof Agent
          >[0]),
        }),
  };
  return new S3Client({
    endpoint: `${origin}${prefix}`,
    region: target.region,
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler,
    // Never what the SDK would find by itself: the environment and the instance are the service's, not the caller's.
    credentials: target.credentials ?? { accessKeyId: "anonymous", secretAccessKey: "anonymous" },
    ...(target.credentials === undefined && {
      signer: { sign: (request: unknown) => Promise.resolve(request) } as never,
    }),
  });
}

function trust(certificateAuthority: string | undefined): { readonly ca?: string[] } {
  return certificateAuthority === undefined ? {} : { ca: [...rootCertificates, certificateAuthority] };
}
