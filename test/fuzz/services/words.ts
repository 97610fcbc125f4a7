import { hostileText, pick } from "./hostile-values.ts";

/** Names that a protocol gives a meaning, with values that are good: hostile requests get further with some of them. */
export type Words = Readonly<Record<string, readonly string[]>>;

/** What a service's protocol knows, where its routes have no schemas that tell it. */
export interface Vocabulary {
  readonly parameters?: Words;
  readonly headers?: Words;
  /** Of the form in a body. */
  readonly form?: Words;
  /** Whole documents; parts of them are replaced by hostile ones. */
  readonly documents?: readonly string[];
}

/** Some of the words with good and hostile values. */
export function chooseWords(random: (below: number) => number, words: Words, oneIn: number): [string, string][] {
  return Object.entries(words)
    .filter(() => random(oneIn) === 0)
    .map(([name, values]) => [name, values.length > 0 && random(3) > 0 ? pick(random, values) : hostileText(random)]);
}

/** Of OAuth 2.0, OpenID Connect and UMA. */
export const OAUTH: Vocabulary = {
  parameters: {
    client_id: ["admin-cli", "portal", "swath-cli"],
    redirect_uri: ["http://portal.example.org/", "javascript:alert(1)"],
    response_type: ["code", "none", "id_token token"],
    response_mode: ["query", "form_post", "jwt"],
    scope: ["openid", "openid offline_access"],
    state: [],
    nonce: [],
    code_challenge: [],
    code_challenge_method: ["S256", "plain"],
    prompt: ["none", "login consent"],
    max_age: ["0", "-1"],
    login_hint: [],
    ui_locales: ["en de"],
    acr_values: [],
    claims: ['{"userinfo":{"a":null}}', "{".repeat(20_000)],
    request: ["a.b.c", "eyJhbGciOiJub25lIn0.e30."],
    request_uri: ["urn:ietf:params:oauth:request_uri:a", "http://127.0.0.1/"],
    id_token_hint: ["a.b.c"],
    post_logout_redirect_uri: ["http://portal.example.org/"],
    first: ["-1", "10"],
    max: ["-1", "10", "1e9"],
    search: ["eric", "*", "%"],
    username: ["eric"],
    exact: ["true"],
    briefRepresentation: ["false"],
    q: ["a:b", ":".repeat(5000)],
    redirect: ["/", "//example.org"],
    code: ["a"],
    error: ["access_denied"],
  },
  form: {
    client_id: ["admin-cli", "portal"],
    client_secret: ["changeme"],
    client_assertion: ["a.b.c", "eyJhbGciOiJub25lIn0.e30."],
    client_assertion_type: ["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"],
    grant_type: [
      "password",
      "authorization_code",
      "refresh_token",
      "client_credentials",
      "urn:ietf:params:oauth:grant-type:device_code",
      "urn:ietf:params:oauth:grant-type:token-exchange",
      "urn:ietf:params:oauth:grant-type:uma-ticket",
    ],
    username: ["eric"],
    password: ["changeme"],
    code: ["a"],
    code_verifier: [],
    device_code: [],
    user_code: ["AAAA-BBBB"],
    refresh_token: ["a.b.c"],
    token: ["a.b.c", "eyJhbGciOiJub25lIn0.e30."],
    token_type_hint: ["access_token"],
    subject_token: ["a.b.c"],
    subject_token_type: ["urn:ietf:params:oauth:token-type:access_token"],
    audience: ["portal"],
    permission: ["a#b", "#".repeat(1000)],
    ticket: [],
    claim_token: ["e30"],
    claim_token_format: ["urn:ietf:params:oauth:token-type:jwt"],
    response_mode: ["decision", "permissions"],
    scope: ["openid"],
    redirect_uri: ["http://portal.example.org/"],
    logout_token: ["a.b.c", "eyJhbGciOiJub25lIn0.e30."],
    request: ["a.b.c"],
    response_type: ["code"],
  },
  headers: {
    dpop: ["a.b.c", "eyJhbGciOiJub25lIn0.e30."],
    authorization: ["Basic YTpi", "Basic %", "Bearer a.b.c", "DPoP a"],
  },
};

const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

/** Of S3, IAM and STS. */
export const S3: Vocabulary = {
  parameters: {
    prefix: ["a/"],
    delimiter: ["/", "\u{1f30d}"],
    marker: ["a"],
    "key-marker": ["a"],
    "upload-id-marker": ["a"],
    "version-id-marker": ["a"],
    "max-keys": ["1", "0", "100000"],
    "max-uploads": ["1"],
    "max-parts": ["1"],
    "part-number-marker": ["1"],
    "list-type": ["2"],
    "continuation-token": ["a"],
    "start-after": ["a"],
    "fetch-owner": ["true"],
    "encoding-type": ["url"],
    versionId: ["null"],
    partNumber: ["1", "10001"],
    "response-content-type": ["text/html\r\nx: y", "a"],
    "response-expires": ["a"],
    "X-Amz-Expires": ["1"],
    "X-Amz-Algorithm": ["AWS4-HMAC-SHA256"],
  },
  headers: {
    "x-amz-copy-source": ["/fuzz/a", "fuzz/%", "%00"],
    "x-amz-copy-source-range": ["bytes=0-1", "bytes=9-1"],
    "x-amz-acl": ["private", "public-read"],
    "x-amz-grant-read": ["id=a", 'uri="http://acs.amazonaws.com/groups/global/AllUsers"'],
    "x-amz-tagging": ["a=b", "a=b&a=c", "%"],
    "x-amz-tagging-directive": ["REPLACE"],
    "x-amz-metadata-directive": ["REPLACE"],
    "x-amz-server-side-encryption": ["AES256", "aws:kms"],
    "x-amz-server-side-encryption-customer-algorithm": ["AES256"],
    "x-amz-server-side-encryption-customer-key": ["YQ=="],
    "x-amz-object-lock-mode": ["GOVERNANCE"],
    "x-amz-object-lock-retain-until-date": ["2100-01-01T00:00:00Z", "+275761-01-01"],
    "x-amz-object-lock-legal-hold": ["ON"],
    "x-amz-checksum-sha256": ["YQ=="],
    "x-amz-checksum-crc32": ["YQ=="],
    "x-amz-sdk-checksum-algorithm": ["SHA256", "CRC64NVME"],
    "x-amz-meta-a": ["b", "=?UTF-8?B?gIA=?="],
    "x-amz-object-attributes": ["ETag,Checksum,ObjectParts,StorageClass,ObjectSize"],
    "x-amz-max-parts": ["1"],
    "x-amz-decoded-content-length": ["1", "5"],
    "x-amz-trailer": ["x-amz-checksum-crc32"],
    "x-amz-expected-bucket-owner": ["a"],
    "x-amz-bypass-governance-retention": ["true"],
    "x-amz-storage-class": ["STANDARD", "GLACIER"],
    "x-amz-website-redirect-location": ["/a"],
    "x-amz-write-offset-bytes": ["0"],
    "content-md5": ["YQ=="],
    range: ["bytes=0-1", "bytes=-0", "bytes=9999999999999999999-"],
    "if-match": ["*", '"a"'],
    "if-modified-since": ["a", "Thu, 01 Jan 1970 00:00:00 GMT"],
    "content-encoding": ["aws-chunked"],
    expires: ["a"],
  },
  form: {
    Action: [
      "CreateUser",
      "PutUserPolicy",
      "ListUsers",
      "AssumeRoleWithWebIdentity",
      "GetCallerIdentity",
      "CreateAccessKey",
    ],
    Version: ["2010-05-08", "2011-06-15"],
    UserName: ["fuzz"],
    PolicyName: ["a"],
    PolicyDocument: ['{"Version":"2012-10-17","Statement":[]}', "[".repeat(20_000)],
    AccessKeyId: ["a"],
    Marker: ["a"],
    MaxItems: ["1"],
    WebIdentityToken: ["a.b.c"],
    RoleArn: ["arn:aws:iam::000000000000:role/a"],
    RoleSessionName: ["a"],
    DurationSeconds: ["900"],
    key: ["a"],
    policy: ["e30=", "W10="],
    "x-amz-signature": ["a"],
    "x-amz-credential": ["swath/20260101/us-east-1/s3/aws4_request"],
    file: ["a"],
  },
  documents: [
    `<Tagging ${NAMESPACE}><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>`,
    `<Delete ${NAMESPACE}><Object><Key>a</Key></Object><Quiet>true</Quiet></Delete>`,
    `<VersioningConfiguration ${NAMESPACE}><Status>Suspended</Status></VersioningConfiguration>`,
    `<LifecycleConfiguration ${NAMESPACE}><Rule><ID>a</ID><Status>Enabled</Status><Filter><Prefix>b</Prefix></Filter><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>`,
    `<CORSConfiguration ${NAMESPACE}><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>`,
    `<AccessControlPolicy ${NAMESPACE}><Owner><ID>a</ID></Owner><AccessControlList></AccessControlList></AccessControlPolicy>`,
    `<CompleteMultipartUpload ${NAMESPACE}><Part><PartNumber>1</PartNumber><ETag>a</ETag></Part></CompleteMultipartUpload>`,
    `<ObjectLockConfiguration ${NAMESPACE}><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>`,
    `<Retention ${NAMESPACE}><Mode>GOVERNANCE</Mode><RetainUntilDate>2000-01-01T00:00:00Z</RetainUntilDate></Retention>`,
    `<LegalHold ${NAMESPACE}><Status>OFF</Status></LegalHold>`,
    `<NotificationConfiguration ${NAMESPACE}><TopicConfiguration><Topic>arn:aws:sns:::a</Topic><Event>s3:ObjectCreated:*</Event></TopicConfiguration></NotificationConfiguration>`,
    `<CreateBucketConfiguration ${NAMESPACE}><LocationConstraint>a</LocationConstraint></CreateBucketConfiguration>`,
    `<OwnershipControls ${NAMESPACE}><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule></OwnershipControls>`,
    `<BucketLoggingStatus ${NAMESPACE}><LoggingEnabled><TargetBucket>fuzz</TargetBucket><TargetPrefix>a</TargetPrefix></LoggingEnabled></BucketLoggingStatus>`,
    '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::fuzz/*"}]}',
  ],
};

/** Of the distribution API. */
export const OCI: Vocabulary = {
  parameters: {
    n: ["1", "0", "1e9"],
    last: ["a"],
    digest: [`sha256:${"0".repeat(64)}`, "sha256:a", "sha512:a"],
    mount: [`sha256:${"0".repeat(64)}`],
    from: ["library/a"],
    artifactType: ["a/b"],
    scope: ["repository:library/a:pull,push", ":".repeat(2000)],
    service: ["a"],
    offline_token: ["true"],
    page: ["1", "-1"],
    page_size: ["1", "1e9"],
    q: ["name=~a", "name=[a~b]", "=".repeat(2000)],
    sort: ["-name"],
  },
  headers: {
    "content-range": ["0-1", "9-1", "a"],
    range: ["bytes=0-1", "bytes=9-1"],
    "content-type": [
      "application/vnd.oci.image.manifest.v1+json",
      "application/vnd.oci.image.index.v1+json",
      "application/vnd.docker.distribution.manifest.v2+json",
      "application/octet-stream",
    ],
    accept: ["application/vnd.oci.image.index.v1+json", "*/*"],
  },
  form: {
    grant_type: ["password", "refresh_token"],
    service: ["a"],
    client_id: ["a"],
    username: ["admin"],
    password: ["changeme"],
    refresh_token: ["a"],
    scope: ["repository:library/a:pull"],
    access_type: ["offline"],
  },
  documents: [
    `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}`,
    `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`,
  ],
};

/** Of pages with forms. */
export const HUB: Vocabulary = {
  parameters: {
    next: ["/hub/home", "//example.org"],
    limit: ["1", "-1"],
    offset: ["1", "-1"],
    state: ["active"],
    code: ["a"],
  },
  form: {
    _xsrf: ["a"],
    profile: ["lab"],
    user: ["eric"],
    server: ["a"],
    note: ["a"],
    expires: ["3600", "-1"],
    message: ["a"],
    profiles: ["- a: &a [b]\n  c: *a", "a: ".repeat(20_000), "[".repeat(20_000)],
  },
  headers: { authorization: ["token a", "Bearer a"], cookie: ["jupyterhub-session-id=a"] },
};
