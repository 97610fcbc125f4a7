import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

import { createSealer } from "@swath/service/seal";

/** Keys made of the hub's secret. */
export interface HubKeys {
  readonly seal: (text: string) => string;
  /** Undefined for what was not sealed with this secret. */
  readonly open: (sealed: string) => string | undefined;
  /** A text that only this deployment can say of `subject`. */
  readonly sign: (subject: string) => string;
  readonly isSigned: (subject: string, signature: string) => boolean;
}

const LOGINS = "application-hub/logins";

export function createHubKeys(secret: string): HubKeys {
  const sealer = createSealer(secret, LOGINS);
  const signing = Buffer.from(hkdfSync("sha256", secret, "application-hub", "forms", 32));
  const sign = (subject: string) => createHmac("sha256", signing).update(subject).digest("base64url");
  return {
    seal: (text) => sealer.seal(text, LOGINS),
    open: (sealed) => sealer.open(sealed, LOGINS),
    sign,
    isSigned: (subject, signature) => {
      const [expected, provided] = [Buffer.from(sign(subject)), Buffer.from(signature)];
      return expected.length === provided.length && timingSafeEqual(expected, provided);
    },
  };
}
