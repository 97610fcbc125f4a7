/** Error codes of the S3 protocol that this service answers, with their status and default message. */
export const S3_ERRORS = {
  AccessControlListNotSupported: [400, "The bucket does not allow ACLs; use a bucket policy instead."],
  AccessDenied: [403, "Access Denied"],
  AuthorizationHeaderMalformed: [400, "The authorization header that you provided is not valid."],
  AuthorizationQueryParametersError: [400, "The authorization query parameters that you provided are not valid."],
  BadDigest: [400, "The Content-MD5 or checksum value that you specified did not match what the server received."],
  BucketAlreadyExists: [409, "The requested bucket name is not available. Select a different name and try again."],
  BucketAlreadyOwnedByYou: [409, "The bucket that you tried to create already exists, and you own it."],
  BucketNotEmpty: [409, "The bucket that you tried to delete is not empty."],
  EntityTooLarge: [400, "Your proposed upload exceeds the maximum allowed object size."],
  EntityTooSmall: [400, "Your proposed upload is smaller than the minimum allowed object size."],
  ExpiredToken: [400, "The provided token has expired."],
  IllegalVersioningConfigurationException: [400, "The versioning configuration specified in the request is invalid."],
  IllegalLocationConstraintException: [400, "The specified location constraint is not valid."],
  IncompleteBody: [400, "You did not provide the number of bytes specified by the Content-Length HTTP header."],
  InsufficientStorage: [
    507,
    "The disk of the object store is nearly full; nothing can be written until space is freed.",
  ],
  InternalError: [500, "An internal error occurred. Try again."],
  InvalidAccessKeyId: [403, "The access key ID that you provided does not exist in our records."],
  InvalidArgument: [400, "Invalid Argument"],
  InvalidBucketAclWithObjectOwnership: [
    400,
    "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting",
  ],
  InvalidBucketState: [409, "The request is not valid for the current state of the bucket."],
  InvalidRetentionPeriod: [400, "The retention period must be a positive number of days or years."],
  NoSuchObjectLockConfiguration: [404, "The specified object does not have an ObjectLock configuration"],
  ObjectLockConfigurationNotFoundError: [404, "Object Lock configuration does not exist for this bucket"],
  OwnershipControlsNotFoundError: [404, "The bucket ownership controls were not found"],
  UnexpectedContent: [400, "This request does not support content."],
  UnresolvableGrantByEmailAddress: [400, "The email address that you provided does not match any account on record."],
  InvalidBucketName: [400, "The specified bucket is not valid."],
  InvalidDigest: [400, "The Content-MD5 or checksum value that you specified is not valid."],
  InvalidPart: [400, "One or more of the specified parts could not be found, or its entity tag did not match."],
  InvalidPartNumber: [416, "The requested partnumber is not satisfiable"],
  InvalidPartOrder: [400, "The list of parts was not in ascending order. Parts must be ordered by part number."],
  InvalidPolicyDocument: [
    400,
    "The content of the form does not meet the conditions specified in the policy document.",
  ],
  InvalidRange: [416, "The requested range is not satisfiable"],
  InvalidRequest: [400, "Invalid Request"],
  InvalidStorageClass: [400, "The storage class that you specified is not valid."],
  InvalidTargetBucketForLogging: [
    400,
    "The target bucket for logging does not exist or does not belong to the account of the bucket.",
  ],
  InvalidTag: [400, "Your request contains tag input that is not valid."],
  InvalidToken: [400, "The provided token is malformed or otherwise not valid."],
  InvalidURI: [400, "The specified URI couldn't be parsed."],
  KeyTooLongError: [400, "Your key is too long."],
  MalformedACLError: [400, "The ACL that you provided was not well formed."],
  MalformedPOSTRequest: [400, "The body of your POST request is not well-formed multipart/form-data."],
  MalformedPolicy: [400, "The policy is not valid."],
  MalformedXML: [
    400,
    "The XML that you provided was not well formed or did not validate against our published schema.",
  ],
  MalformedTrailerError: [
    400,
    "The request contained trailing data that was not well-formed or did not conform to our published schema.",
  ],
  MaxMessageLengthExceeded: [400, "Your request was too large."],
  MetadataTooLarge: [400, "Your metadata headers exceed the maximum allowed metadata size."],
  MethodNotAllowed: [405, "The specified method is not allowed against this resource."],
  MissingContentLength: [411, "You must provide the Content-Length HTTP header."],
  MissingSecurityHeader: [400, "Your request is missing a required header."],
  NoSuchBucket: [404, "The specified bucket does not exist"],
  NoSuchBucketPolicy: [404, "The bucket policy does not exist"],
  NoSuchCORSConfiguration: [404, "The CORS configuration does not exist"],
  NoSuchKey: [404, "The specified key does not exist."],
  NoSuchLifecycleConfiguration: [404, "The lifecycle configuration does not exist"],
  NoSuchPublicAccessBlockConfiguration: [404, "The public access block configuration was not found"],
  NoSuchTagSet: [404, "The TagSet does not exist"],
  NoSuchUpload: [404, "The specified multipart upload does not exist. It might have been aborted or completed."],
  NoSuchVersion: [404, "The specified version does not exist."],
  NotFound: [404, "Not Found"],
  NotImplemented: [501, "A header or operation that you asked for is not implemented by this object store."],
  PreconditionFailed: [412, "At least one of the preconditions that you specified did not hold."],
  QuotaExceeded: [403, "The quota of this bucket does not leave room for this object."],
  RequestTimeTooSkewed: [403, "The difference between the request time and the server's time is too large."],
  ServerSideEncryptionConfigurationNotFoundError: [404, "The server-side encryption configuration was not found"],
  ServiceUnavailable: [503, "Reduce your request rate."],
  SignatureDoesNotMatch: [
    403,
    "The request signature that the server calculated does not match the signature that you provided. Check your secret access key and signing method.",
  ],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],
} as const satisfies Readonly<Record<string, readonly [status: number, message: string]>>;

export type S3ErrorCode = keyof typeof S3_ERRORS;

/** Further elements of the error document: `{ BucketName: "b" }`. */
type Details = Readonly<Record<string, string | number>>;

/** An error that the client sees, as S3 writes it. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly code: S3ErrorCode;
  readonly status: number;
  readonly details: Details;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: S3ErrorCode,
    message?: string,
    {
      details = {},
      headers = {},
      cause,
    }: { details?: Details; headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(message ?? S3_ERRORS[code][1], { cause });
    this.code = code;
    this.status = S3_ERRORS[code][0];
    this.details = details;
    this.headers = headers;
  }
}
