import { hash, timingSafeEqual } from "node:crypto";

/** Whether this is one of the secrets; its time does not tell how much of it was right. */
export type SecretCheck = (shown: string) => boolean;

/** @param secrets what is accepted: one, or two while it is being changed; without any nothing is */
export function createSecretCheck(...secrets: readonly (string | undefined)[]): SecretCheck {
  const accepted = secrets.flatMap((secret) => (secret === undefined || secret === "" ? [] : [digest(secret)]));
  return (shown) => {
    const provided = digest(shown);
    return accepted.filter((each) => timingSafeEqual(each, provided)).length > 0;
  };
}

/** The token of `Authorization: Bearer …` (RFC 6750 §2.1); empty where there is none. */
export const readBearer = (authorization: string | undefined): string =>
  /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1] ?? "";

const digest = (secret: string): Buffer => hash("sha256", secret, "buffer");
