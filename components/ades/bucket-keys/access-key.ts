import { hash } from "node:crypto";

/** Id of a key of the deployed object storage, made of its secret: whoever has the secret knows the id. */
export const accessKeyOf = (secret: string): string =>
  `AKIA${hash("sha256", `access key\n${secret}`).slice(0, 16).toUpperCase()}`;

/** A key as it is used. @param accessKeyId of another storage's; the deployed one's is made of the secret */
export const toCredentials = (accessKeyId: string | undefined, secretAccessKey: string) => ({
  accessKeyId: accessKeyId ?? accessKeyOf(secretAccessKey),
  secretAccessKey,
});
