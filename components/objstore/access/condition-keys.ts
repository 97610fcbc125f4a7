/**
 * Condition keys that policies may name, in lower case: those that Amazon S3 documents for the operations that are here, the global
 * ones, and the claims of identity tokens. A key that has no value here (there are no VPCs and no organizations) is absent, as it is
 * at AWS for a request that comes from neither.
 */
const KEYS = new Set([
  "aws:calledvia", "aws:calledviafirst", "aws:calledvialast", "aws:currenttime", "aws:epochtime", "aws:federatedprovider",
  "aws:multifactorauthage", "aws:multifactorauthpresent", "aws:principalaccount", "aws:principalarn", "aws:principalisawsservice",
  "aws:principalorgid", "aws:principalorgpaths", "aws:principalservicename", "aws:principalservicenameslist", "aws:principaltype",
  "aws:referer", "aws:requestedregion", "aws:resourceaccount", "aws:resourceorgid", "aws:resourceorgpaths", "aws:securetransport",
  "aws:sourceaccount", "aws:sourcearn", "aws:sourceip", "aws:sourceorgid", "aws:sourcevpc", "aws:sourcevpce", "aws:tokenissuetime",
  "aws:useragent", "aws:userid", "aws:username", "aws:viaawsservice", "aws:vpcsourceip",
  "s3:authtype", "s3:delimiter", "s3:if-match", "s3:if-none-match", "s3:locationconstraint", "s3:max-keys", "s3:object-lock-legal-hold",
  "s3:object-lock-mode", "s3:object-lock-remaining-retention-days", "s3:object-lock-retain-until-date", "s3:objectcreationoperation",
  "s3:prefix", "s3:requestobjecttagkeys", "s3:resourceaccount", "s3:signatureage", "s3:signatureversion", "s3:tlsversion",
  "s3:versionid", "s3:x-amz-acl", "s3:x-amz-content-sha256", "s3:x-amz-copy-source", "s3:x-amz-grant-full-control",
  "s3:x-amz-grant-read", "s3:x-amz-grant-read-acp", "s3:x-amz-grant-write", "s3:x-amz-grant-write-acp", "s3:x-amz-metadata-directive",
  "s3:x-amz-object-ownership", "s3:x-amz-server-side-encryption", "s3:x-amz-server-side-encryption-aws-kms-key-id",
  "s3:x-amz-server-side-encryption-customer-algorithm", "s3:x-amz-storage-class", "s3:x-amz-website-redirect-location",
]); // prettier-ignore

/** Keys that end with a name of the user's own: of a tag or of a claim. */
const FAMILIES = [
  "s3:existingobjecttag/",
  "s3:requestobjecttag/",
  "s3:buckettag/",
  "aws:principaltag/",
  "aws:resourcetag/",
  "aws:requesttag/",
  "jwt:",
];

export function isConditionKey(key: string): boolean {
  const lower = key.toLowerCase();
  return KEYS.has(lower) || FAMILIES.some((family) => lower.startsWith(family) && lower.length > family.length);
}

/** The key as questions are asked: lower case, but for the name of a tag, whose case counts. */
export function toConditionKey(key: string): string {
  const slash = key.indexOf("/");
  return slash < 0 ? key.toLowerCase() : key.slice(0, slash).toLowerCase() + key.slice(slash);
}
