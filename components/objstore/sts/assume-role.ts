import { randomBytes } from "node:crypto";

import { type AccessTokenClaims, IssuerUnavailableError } from "@swath/auth";

import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { type S3Request, send } from "../protocol/request.ts";
import { renderXml } from "../protocol/xml.ts";
import { type AccessKey, type Accounts, LOGIN_TITLE, type Role, valuesOf } from "../store/accounts.ts";
import { parsePolicy } from "../access/policy.ts";

export type AssumeRole = (request: S3Request) => Promise<void>;
/** Verifies a token of the identity service and gives its claims; rejects otherwise. */
export type VerifyToken = (token: string) => Promise<AccessTokenClaims>;

interface AssumeRoleDeps {
  readonly accounts: Accounts;
  readonly verifyToken: VerifyToken;
  readonly now: () => number;
}

const NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/";

/** AssumeRoleWithWebIdentity: an identity token becomes temporary credentials with the rights of one or of all fitting roles. */
export function createAssumeRole(deps: AssumeRoleDeps): AssumeRole {
  return async (request) => {
    const form = new URLSearchParams((await readDocument(request, 64 << 10)).toString());
    const read = (name: string) => form.get(name) ?? request.query.get(name) ?? undefined;
    if (read("Action") !== "AssumeRoleWithWebIdentity") {
      throw new S3Error("NotImplemented", "The one action offered here is AssumeRoleWithWebIdentity.");
    }
    // Ignoring them would give more rights than were asked for.
    if ([...form.keys(), ...request.query.keys()].some((name) => name.startsWith("PolicyArns"))) {
      throw new S3Error("NotImplemented", "PolicyArns are not supported; send the session policy itself in Policy.");
    }
    const seconds = Number(read("DurationSeconds") ?? 3600);
    if (!Number.isInteger(seconds) || seconds < 900 || seconds > 43_200) {
      throw new S3Error("InvalidArgument", "DurationSeconds must be a whole number from 900 to 43200.");
    }
    const key = await exchangeToken(deps, read("WebIdentityToken") ?? "", {
      seconds,
      role: /role\/(.+)$/.exec(read("RoleArn") ?? "")?.[1],
      policy: read("Policy"),
    });
    const session = read("RoleSessionName") ?? "session";
    const xml = renderXml(
      "AssumeRoleWithWebIdentityResponse",
      {
        AssumeRoleWithWebIdentityResult: {
          SubjectFromWebIdentityToken: key.user,
          AssumedRoleUser: {
            Arn: `arn:aws:sts:::assumed-role/${key.user}/${session}`,
            AssumedRoleId: `${key.id}:${session}`,
          },
          Credentials: {
            AccessKeyId: key.id,
            SecretAccessKey: key.secret,
            SessionToken: key.token ?? "",
            Expiration: new Date(key.expires ?? 0).toISOString(),
          },
        },
        ResponseMetadata: { RequestId: request.requestId },
      },
      NAMESPACE,
    );
    send(request, 200, xml, "application/xml");
  };
}

/** Temporary keys for a verified token. @throws {S3Error} AccessDenied when no role fits */
export async function exchangeToken(
  { accounts, verifyToken, now }: AssumeRoleDeps,
  token: string,
  options: {
    readonly seconds: number;
    readonly role?: string | undefined;
    readonly policy?: string | undefined;
    /** A session of the console, which ends with the issuer's session. */
    readonly console?: { readonly sessionId: string | undefined };
  },
): Promise<AccessKey> {
  let claims: AccessTokenClaims;
  try {
    claims = await verifyToken(token);
  } catch (error) {
    if (error instanceof IssuerUnavailableError) {
      throw new S3Error("ServiceUnavailable", "The identity service cannot be asked now; try again.", { cause: error });
    }
    throw new S3Error(
      "InvalidToken",
      `The web identity token is not accepted: ${error instanceof Error ? error.message : "it cannot be read"}.`,
      { cause: error },
    );
  }
  const fitting = accounts
    .listRoles()
    .filter((role) => fits(role, claims) && (options.role === undefined || role.name === options.role));
  if (fitting.length === 0) {
    throw new S3Error("AccessDenied", "No role of this object store fits the claims of this token.");
  }
  const statements = fitting.flatMap(({ policy }) => (JSON.parse(policy) as { Statement: unknown }).Statement);
  const policy = JSON.stringify({ Version: "2012-10-17", Statement: statements });
  parsePolicy(policy);
  if (options.policy !== undefined && options.policy !== "") {
    checkSessionPolicy(options.policy);
  }
  const { preferred_username: name, sub } = claims;
  const variables = Object.entries(claims).flatMap(([claim, value]) =>
    typeof value === "string" ? [[`jwt:${claim.toLowerCase()}`, value] as const] : [],
  );
  if (options.console?.sessionId !== undefined) {
    variables.push(["jwt:sid", options.console.sessionId]);
  }
  return accounts.createKey({
    kind: "ASIA",
    user: name ?? sub,
    title: options.console === undefined ? "web identity" : LOGIN_TITLE,
    policy,
    expires: now() + options.seconds * 1000,
    token: randomBytes(32).toString("base64url"),
    claims: JSON.stringify(Object.fromEntries(variables)),
    sessionPolicy: options.policy === "" ? undefined : options.policy,
    roles: fitting.map((role) => role.name),
  });
}

/** @throws {S3Error} MalformedPolicy; InvalidArgument over the 2,048 characters that STS allows */
function checkSessionPolicy(text: string): void {
  if (text.length > 2048) {
    throw new S3Error("InvalidArgument", "A session policy may have 2048 characters.");
  }
  parsePolicy(text);
}

function fits(role: Role, claims: AccessTokenClaims): boolean {
  if (role.claim === null) {
    return true;
  }
  let value: unknown = claims;
  for (const name of role.claim.split(".")) {
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  const found = Array.isArray(value) ? (value as unknown[]) : [typeof value === "boolean" ? String(value) : value];
  return valuesOf(role).some((requested) => found.includes(requested));
}
