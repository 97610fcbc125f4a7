import { randomBytes } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";

import { drainBody, noteRoute } from "@swath/service";
import type { FailureDelays } from "@swath/service/failure-delays";

import { type Authorizer, createAuthorizer } from "./access/authorize.ts";
import { type Principal, toPrincipal } from "./access/principal.ts";
import { toRootKey } from "./access/root-key.ts";
import { idOf } from "./access/acl.ts";
import { addressOf } from "./access/circumstances.ts";
import type { EventTargets } from "./background/event-delivery.ts";
import type { DiskGuard } from "./background/disk-guard.ts";
import type { StalledRequests } from "./background/stalled.ts";
import { S3Error } from "./errors.ts";
import type { OperationContext } from "./operations/operation.ts";
import { findOperation, listS3Routes } from "./operations/table.ts";
import { type Address, parseAddress } from "./protocol/address.ts";
import { addCors, respondPreflight } from "./preflight.ts";
import { Query } from "./protocol/query.ts";
import type { S3Request } from "./protocol/request.ts";
import { renderXml } from "./protocol/xml.ts";
import { authenticate, authenticateForm } from "./signature/authenticate.ts";
import type { AuthenticateDeps } from "./signature/credential.ts";
import { SigningKeys } from "./signature/signing-key.ts";
import type { AccessKey } from "./store/accounts.ts";
import { checkQuota } from "./store/buckets.ts";
import { DamagedContentError } from "./store/content/content-reader.ts";
import { respondQuery, isQueryRequest } from "./iam/query-api.ts";
import { isDiskFull } from "./store/disk-full.ts";
import type { Keyring } from "./store/encryption/keyring.ts";
import type { Bucket, Ownership } from "./store/rows.ts";
import type { ObjectStore } from "./store/store.ts";
import type { AssumeRole } from "./sts/assume-role.ts";

export interface S3Options {
  readonly store: ObjectStore;
  readonly rootUser: string;
  readonly rootPassword: string;
  /** Accepted as well, while the password is being changed. */
  readonly rootPasswordAlso?: string | undefined;
  readonly region: string;
  readonly publicUrl: string;
  readonly consoleOrigin?: string | undefined;
  readonly disk: DiskGuard;
  readonly keyring: Keyring;
  readonly eventTargets: EventTargets;
  /** Accepts Signature Version 2 as well. */
  readonly signatureVersion2: boolean;
  /** Of buckets that are made without saying: whether access control lists count. */
  readonly defaultOwnership: Ownership;
  readonly stalled: StalledRequests;
  /** Wrong signatures by the address they come from. */
  readonly failures: FailureDelays;
  /** AssumeRoleWithWebIdentity, where an identity service is known. */
  readonly assumeRole?: AssumeRole | undefined;
  readonly onRequest: (entry: RequestEntry) => void;
  /** Somebody asked for content that the disk has damaged. */
  readonly onDamage: (error: DamagedContentError) => void;
}

export interface RequestEntry {
  readonly operation: string;
  readonly method: string;
  /** Path and query as they came; the query may hold a signature. */
  readonly target: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  /** Set when the fault is ours. */
  readonly error?: unknown;
  /** Undefined when the address could not be read. */
  readonly address: Address | undefined;
  readonly message: IncomingMessage;
  /** Who signed and how; undefined: nobody. */
  readonly caller: { readonly name: string; readonly authType: string | undefined } | undefined;
  readonly errorCode: string | undefined;
  /** With the head. */
  readonly sentBytes: number;
}

/** The S3 server: address → signature → operation → right → handle. Listens on nothing. */
export function createS3Server(options: S3Options): Server {
  listS3Routes().forEach(noteRoute);
  // Of IAM and STS; the action is in the form.
  noteRoute({ method: "POST", path: "/" });
  const rootKey = toRootKey(options.rootUser, options.rootPassword);
  const { rootPasswordAlso: also } = options;
  const otherRootKey = also === undefined ? undefined : toRootKey(options.rootUser, also);
  const context: ServerContext = {
    ...options,
    domain: new URL(options.publicUrl).hostname,
    credentials: {
      findCredential: (id) => (id === options.rootUser ? rootKey : options.store.accounts.findKey(id)),
      ...(otherRootKey && { findOther: (id: string) => (id === options.rootUser ? otherRootKey : undefined) }),
      keys: new SigningKeys(),
      region: options.region,
      version2: options.signatureVersion2,
      now: options.store.now,
    },
  };
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 65_000,
    maxHeaderSize: 32 << 10,
  });
  server.on("request", (message, response) => reply(context, message, response, acceptNothing));
  // Expectations of other kinds are nobody's: they are passed over, as AWS does.
  server.on("checkExpectation", (message: IncomingMessage, response: ServerResponse) =>
    reply(context, message, response, acceptNothing),
  );
  server.on("checkContinue", (message: IncomingMessage, response: ServerResponse) => {
    let accepted = false;
    const accept = () => {
      if (!accepted) {
        accepted = true;
        response.writeContinue();
      }
    };
    reply(context, message, response, accept);
  });
  return server;
}

/** Who does not ask before sending a body needs no permission. */
function acceptNothing(): void {}

interface ServerContext extends S3Options {
  readonly domain: string;
  readonly credentials: AuthenticateDeps<AccessKey>;
}

let requests = 0;
const RUN = randomBytes(5).toString("hex").toUpperCase();

/** Sixteen digits that no other request has: drawn once for the process, then counted. */
function nextRequestId(): string {
  requests = (requests + 1) % 0x1000000;
  return RUN + requests.toString(16).toUpperCase().padStart(6, "0");
}

/** Answers one request. Makes no promise where the answer is at hand: small objects are most of what is read. */
function reply(
  context: ServerContext,
  message: IncomingMessage,
  response: ServerResponse,
  acceptBody: () => void,
): void {
  const started = performance.now();
  if (message.method !== "GET" && message.method !== "HEAD") {
    context.stalled.watch(message, response);
  }
  const requestId = nextRequestId();
  // Kept, because a message that ends early loses it.
  const { socket } = message;
  const sentBefore = socket.bytesWritten;
  const target = message.url ?? "/";
  const baseHead = ["x-amz-request-id", requestId, "server", "swath", "x-content-type-options", "nosniff"];
  let operation = "unknown";
  let address: Address | undefined;
  let caller: RequestEntry["caller"];
  let errorCode: string | undefined;
  const log = (error?: unknown) =>
    context.onRequest({
      operation,
      method: message.method ?? "",
      target,
      status: response.statusCode,
      ms: Math.round(performance.now() - started),
      requestId,
      error,
      address,
      message,
      caller,
      errorCode,
      sentBytes: socket.bytesWritten - sentBefore,
    });
  const fail = (error: unknown) => {
    const known = toS3Error(error);
    errorCode = known.code;
    if (error instanceof DamagedContentError) {
      context.onDamage(error);
    }
    // Nobody's fault when the client went away; a full disk is for somebody to see to.
    const isOurs = known.status >= 500 && known.code !== "NotImplemented" && !response.destroyed;
    const tell = () => {
      sendError(known, { message, response, requestId, baseHead }, target);
      log(isOurs ? error : undefined);
    };
    if (known.code === "SignatureDoesNotMatch" || known.code === "InvalidAccessKeyId") {
      void context.failures.slow(addressOf({ message, headers: message.headers })).then(tell);
    } else {
      tell();
    }
  };
  try {
    address = parseAddress(target, message.headers.host, context.domain);
    if (message.method === "OPTIONS") {
      operation = "Preflight";
      setHeaders(response, baseHead);
      respondPreflight(context, address, message, response);
      log();
      return;
    }
    addCors(context, address, message, baseHead);
    const work = perform(context, { address, message, response, requestId, baseHead, acceptBody }, (name, who) => {
      operation = name;
      caller = who;
    });
    if (work === undefined) {
      log();
    } else {
      work.then(() => log()).catch(fail);
    }
  } catch (error) {
    fail(error);
  }
}

type Incoming = Pick<S3Request, "address" | "message" | "response" | "requestId" | "baseHead" | "acceptBody">;

function perform(
  context: ServerContext,
  incoming: Incoming,
  onOperation: (name: string, caller?: RequestEntry["caller"]) => void,
): undefined | Promise<void> {
  const { address, message, response, requestId, baseHead, acceptBody } = incoming;
  const { store, region, credentials } = context;
  const { headers, rawHeaders, method = "GET" } = message;
  const { path, query: pairs, raw, hostBucket } = address;
  const query = new Query(pairs);
  const plain = { address, message, response, requestId, baseHead, acceptBody, headers, method, query };
  if (isQueryRequest(plain)) {
    setHeaders(response, baseHead);
    const own = { accounts: store.accounts, rootUser: context.rootUser, credentials };
    const slow = () => context.failures.slow(addressOf(plain));
    return respondQuery({ ...plain, payload: { kind: "unsigned" } }, { ...own, slow }, onOperation);
  }
  const signed = authenticate(
    { method, path, query: pairs, parameters: query, headers, rawHeaders, raw, hostBucket },
    credentials,
  );
  const payload = signed?.payload ?? readAnonymousPayload(message);
  const request: S3Request = { ...plain, payload };
  if (address.bucket === undefined && method === "POST" && signed === undefined && context.assumeRole !== undefined) {
    onOperation("AssumeRoleWithWebIdentity");
    setHeaders(response, baseHead);
    return context.assumeRole(request);
  }
  const admitted = admit(context, request, signed?.credential, signed?.authType);
  const { principal, authorize } = admitted;
  const operation = findOperation(request);
  onOperation(operation.name, signed === undefined ? undefined : { name: idOf(principal), authType: signed.authType });
  if (principal.kind === "anonymous" && address.bucket === undefined) {
    throw new S3Error("AccessDenied");
  }
  const action = query.has("versionId") ? (operation.versionAction ?? operation.action) : operation.action;
  if (operation.name !== "CreateBucket" && address.bucket !== undefined) {
    checkExpectedOwner(store.buckets.get(address.bucket), message.headers["x-amz-expected-bucket-owner"]);
  }
  if (action !== "" && address.bucket !== undefined) {
    authorize(action, address.bucket, address.key);
  }
  const releases: (() => void)[] = [];
  const work: OperationContext = {
    store,
    request,
    ...admitted,
    region,
    publicUrl: context.publicUrl,
    keyring: context.keyring,
    eventTargets: context.eventTargets,
    defaultOwnership: context.defaultOwnership,
    watchClient: () => context.stalled.watch(message, response),
    signIn: (form) => admit(context, request, authenticateForm(form, credentials), "POST"),
    checkRoom: (bucket, bytes, freed = 0) => {
      checkQuota(bucket, bytes - freed);
      releases.push(context.disk.reserve(bytes, message));
    },
  };
  if (operation.sendsHead !== true) {
    setHeaders(response, baseHead);
  }
  const handled = operation.handle(work);
  return handled instanceof Promise
    ? handled.finally(() => {
        for (const release of releases) {
          release();
        }
      })
    : undefined;
}

/** @throws {S3Error} AccessDenied when the bucket is not whose the client believes */
export function checkExpectedOwner({ owner, account }: Bucket, expected: string | readonly string[] | undefined): void {
  if (expected !== undefined && expected !== owner && (expected !== account || account === "")) {
    throw new S3Error("AccessDenied");
  }
}

/** Who asks, and what decides whether they may. */
function admit(
  { store, rootUser, region }: ServerContext,
  request: S3Request,
  credential: AccessKey | undefined,
  authType: string | undefined,
): { readonly principal: Principal } & Authorizer {
  const principal: Principal =
    credential === undefined ? { kind: "anonymous" } : toPrincipal(credential, store.accounts, rootUser);
  return { principal, ...createAuthorizer({ store, request, principal, authType, region }) };
}

function setHeaders(response: ServerResponse, head: readonly string[]): void {
  for (let at = 0; at < head.length; at += 2) {
    response.setHeader(head[at] as string, head[at + 1] as string);
  }
}

function readAnonymousPayload(message: IncomingMessage): S3Request["payload"] {
  return message.headers["x-amz-content-sha256"] === "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
    ? { kind: "chunked", trailer: true }
    : { kind: "unsigned" };
}

function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) {
    return error;
  }
  if (error instanceof DamagedContentError) {
    return new S3Error(
      "InternalError",
      "The disk has lost bytes of this object: what it gives back is not what was stored, so nothing is sent. Restore it from a backup, or upload it again.",
      { cause: error },
    );
  }
  return new S3Error(isDiskFull(error) ? "InsufficientStorage" : "InternalError", undefined, { cause: error });
}

function sendError(
  known: S3Error,
  { message, response, requestId, baseHead }: Pick<Incoming, "message" | "response" | "requestId" | "baseHead">,
  target: string,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  for (const name of [
    "content-length",
    "content-type",
    "content-range",
    "content-encoding",
    "cache-control",
    "etag",
    "last-modified",
  ]) {
    response.removeHeader(name);
  }
  setHeaders(response, baseHead);
  for (const [name, value] of Object.entries(known.headers)) {
    response.setHeader(name, value);
  }
  if (message.headers.expect !== undefined) {
    // The client may or may not send its body now; a new connection leaves no doubt.
    response.setHeader("connection", "close");
  }
  const resource = target.split("?", 1)[0] ?? "";
  const content = {
    Code: known.code,
    Message: known.message,
    ...known.details,
    Resource: resource,
    RequestId: requestId,
    HostId: requestId,
  };
  const body = message.method === "HEAD" ? "" : renderXml("Error", content, null);
  response
    .writeHead(known.status, { "content-type": "application/xml", "content-length": Buffer.byteLength(body) })
    .end(body);
  drainBody(message);
}
