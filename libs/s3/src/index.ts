export { toObjectUrl } from "./object-url.ts";
export { type S3Signer, createS3Signer } from "./signer.ts";
