import { readFileSync } from "node:fs";
import { join } from "node:path";

const TOKEN = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,128})$/;

/** The key authorization that answers an ACME HTTP-01 challenge (RFC 8555 §8.3), or `undefined` when none is prepared. */
export function readChallenge(folder: string, target: string): string | undefined {
  const token = TOKEN.exec(target)?.[1];
  if (token === undefined) {
    return undefined;
  }
  try {
    return readFileSync(join(folder, token), "latin1");
  } catch {
    // Not prepared by us: the path may belong to a service.
    return undefined;
  }
}
