import { hash } from "node:crypto";

import { drainBody } from "@swath/service";
import { parseFormParameters } from "@swath/service/parse-form";

import { idOf } from "../access/acl.ts";
import { toPrincipal } from "../access/principal.ts";
import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { type S3Request, header, send } from "../protocol/request.ts";
import { renderXml } from "../protocol/xml.ts";
import { authenticate } from "../signature/authenticate.ts";
import { type AuthenticateDeps, findValid } from "../signature/credential.ts";
import type { AccessKey, Accounts } from "../store/accounts.ts";
import { createAccessKey, deleteAccessKey, listAccessKeys, updateAccessKey } from "./access-keys.ts";
import { getAccountSummary, getCallerIdentity, getSessionToken } from "./caller.ts";
import type { IamAction } from "./iam-context.ts";
import { IamError } from "./iam-error.ts";
import * as policies from "./user-policies.ts";
import { createUser, deleteUser, getUser, listUsers, updateUser } from "./users.ts";

const IAM_NAMESPACE = "https://iam.amazonaws.com/doc/2010-05-08/";
const STS_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";
const MAX_BODY_BYTES = 256 << 10;

/** Actions of IAM and STS that are here. */
const ACTIONS: Readonly<Record<string, IamAction>> = {
  CreateUser: createUser,
  GetUser: getUser,
  ListUsers: listUsers,
  UpdateUser: updateUser,
  DeleteUser: deleteUser,
  CreateAccessKey: createAccessKey,
  ListAccessKeys: listAccessKeys,
  UpdateAccessKey: updateAccessKey,
  DeleteAccessKey: deleteAccessKey,
  PutUserPolicy: policies.putUserPolicy,
  GetUserPolicy: policies.getUserPolicy,
  ListUserPolicies: policies.listUserPolicies,
  DeleteUserPolicy: policies.deleteUserPolicy,
  AttachUserPolicy: policies.attachUserPolicy,
  ListAttachedUserPolicies: policies.listAttachedUserPolicies,
  DetachUserPolicy: policies.detachUserPolicy,
  // There are none; who removes a user asks for them first.
  ListGroupsForUser: () => ({ Groups: {}, IsTruncated: false }),
  ListGroups: () => ({ Groups: {}, IsTruncated: false }),
  ListRoles: () => ({ Roles: {}, IsTruncated: false }),
  ListOpenIDConnectProviders: () => ({ OpenIDConnectProviderList: {} }),
  GetAccountSummary: getAccountSummary,
  GetCallerIdentity: getCallerIdentity,
  GetSessionToken: getSessionToken,
};
const OF_STS = new Set(["GetCallerIdentity", "GetSessionToken"]);

interface QueryApiDeps {
  readonly accounts: Accounts;
  readonly rootUser: string;
  readonly credentials: AuthenticateDeps<AccessKey>;
  /** Waits after a wrong signature or an unknown key. */
  readonly slow: () => Promise<void>;
}

/** Whether a request is for IAM or STS: signed for one of them, sent to the service itself. */
export function isQueryRequest({
  method,
  address,
  message,
}: Pick<S3Request, "method" | "address" | "message">): boolean {
  return (
    method === "POST" &&
    address.bucket === undefined &&
    /Credential=[^,]*\/(?:iam|sts)\/aws4_request/.test(message.headers.authorization ?? "")
  );
}

/**
 * Answers a request of the IAM (2010-05-08) or STS (2011-06-15) query API. Its body is read before its signature is checked: these
 * services sign its digest and do not send it.
 */
export async function respondQuery(
  request: S3Request,
  { accounts, rootUser, credentials, slow }: QueryApiDeps,
  onAction: (name: string, caller?: { readonly name: string; readonly authType: string | undefined }) => void,
): Promise<void> {
  const unsigned: S3Request = { ...request, payload: { kind: "unsigned" } };
  try {
    // The body is read for a key that is known alone: only its digest, which is signed, needs it.
    findValid(readAccessKey(request), credentials);
    const body = await readDocument(unsigned, MAX_BODY_BYTES);
    const form = parseFormParameters(
      body.toString(),
      (most) => new IamError("ValidationError", `A request must not have more than ${most} parameters.`),
    );
    const action = form.get("Action") ?? "";
    const { credential } = verify(request, body, credentials);
    const handle = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (handle === undefined) {
      throw new IamError("InvalidAction", `The action ${action.slice(0, 100)} is not offered here.`);
    }
    onAction(action);
    const principal = toPrincipal(credential, accounts, rootUser);
    if (principal.kind === "anonymous") {
      throw new IamError("AccessDenied", "Sign the request.");
    }
    onAction(action, { name: idOf(principal), authType: "AuthHeader" });
    const read = (name: string) => form.get(name) ?? undefined;
    const result = await handle({ accounts, rootUser, principal, key: credential, now: credentials.now, read }, action);
    const content = {
      ...(result !== undefined && { [`${action}Result`]: result }),
      ResponseMetadata: { RequestId: request.requestId },
    };
    const namespace = OF_STS.has(action) ? STS_NAMESPACE : IAM_NAMESPACE;
    send(request, 200, renderXml(`${action}Response`, content, namespace), "text/xml");
  } catch (error) {
    const known = toIamError(error);
    if (WRONG.has(known.code)) {
      await slow();
    }
    const isSts = header(request, "authorization")?.includes("/sts/") === true;
    const { code, message } = known;
    const content = { Error: { Type: "Sender", Code: code, Message: message }, RequestId: request.requestId };
    const xml = renderXml("ErrorResponse", content, isSts ? STS_NAMESPACE : IAM_NAMESPACE);
    send(request, known.status, xml, "text/xml");
    drainBody(request.message);
  }
}

function readAccessKey(request: S3Request): string {
  return /Credential=([^/,\s]*)\//.exec(header(request, "authorization") ?? "")?.[1] ?? "";
}

/** The digest of the body is signed and not sent. @throws {S3Error} SignatureDoesNotMatch and others */
function verify(
  { address, method, query, headers }: S3Request,
  body: Buffer,
  credentials: AuthenticateDeps<AccessKey>,
) {
  const signed = authenticate(
    {
      method,
      path: address.path,
      query: address.query,
      parameters: query,
      headers: { ...headers, "x-amz-content-sha256": hash("sha256", body) },
      raw: address.raw,
      hostBucket: address.hostBucket,
    },
    credentials,
  );
  if (signed === undefined) {
    throw new IamError("AccessDenied", "Sign the request.");
  }
  return signed;
}

/** What is answered late: whoever guesses waits. */
const WRONG: ReadonlySet<string> = new Set(["SignatureDoesNotMatch", "InvalidClientTokenId"]);

/** @throws what is no fault of the client */
function toIamError(error: unknown): { readonly code: string; readonly status: number; readonly message: string } {
  if (error instanceof IamError) {
    return error;
  }
  if (!(error instanceof S3Error) || error.status >= 500) {
    throw error;
  }
  const { code, status, message } = error;
  return { code: code === "InvalidAccessKeyId" ? "InvalidClientTokenId" : code, status, message };
}
