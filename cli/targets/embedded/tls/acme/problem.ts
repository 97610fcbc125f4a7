/** What stands between a host and its certificate, with what the operator can do. */
export class AcmeError extends Error {
  override readonly name: string = "AcmeError";
  /** One sentence that says what to do. */
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}

/** The ACME server did not answer: nothing was decided, the same order goes on later. */
export class AcmeConnectionError extends AcmeError {
  override readonly name = "AcmeConnectionError";
}

/** A problem document of the ACME server (RFC 8555 §6.7, RFC 9457). */
export interface Problem {
  readonly type?: string;
  readonly detail?: string;
  readonly status?: number;
  readonly identifier?: { readonly value?: string };
  readonly subproblems?: readonly Problem[];
}

const PREFIX = "urn:ietf:params:acme:error:";
/** Longer texts of a server are cut. */
const MAX_DETAIL_CHARS = 600;

/** The ACME server refused. */
export class AcmeProblem extends AcmeError {
  override readonly name = "AcmeProblem";
  /** Last part of the problem's type: `rateLimited`; empty when the server gave none. */
  readonly kind: string;
  readonly status: number;
  /** What the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, { status, retryAfterMs, host }: ProblemContext) {
    const kind = kindOf(problem);
    super(`${host === undefined ? "" : `${host}: `}${describe(problem, status)}`, adviseOn(kind, status));
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

interface ProblemContext {
  readonly status: number;
  readonly retryAfterMs?: number | undefined;
  readonly host?: string;
}

function kindOf({ type = "" }: Problem): string {
  return type.startsWith(PREFIX) ? type.slice(PREFIX.length) : "";
}

function describe(problem: Problem, status: number): string {
  const own = typeof problem.detail === "string" ? problem.detail : `the ACME server responded with status ${status}`;
  const parts = (Array.isArray(problem.subproblems) ? (problem.subproblems as readonly Problem[]) : [])
    .slice(0, 5)
    .map(({ identifier, detail }) => `${identifier?.value ?? "a name"}: ${detail ?? "refused"}`);
  const kind = kindOf(problem);
  const text = toOneLine([own, ...parts].join("; "));
  return `${text.slice(0, MAX_DETAIL_CHARS)}${kind === "" ? "" : ` (${kind})`}`;
}

/** Without control characters, which would speak to the terminal that shows it. */
export function toOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ");
}

const ADVICE: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    connection:
      "Open port 80 of the public address to everybody; the certificate authority fetches http://HOST/ from outside.",
    unauthorized:
      "Let the host's DNS records lead to this machine alone (A and AAAA), and port 80 to its ingress without another server between.",
    dns: "Add the host's record to your DNS (A to the public address, no AAAA record that leads elsewhere).",
    caa: "Allow this certificate authority in the CAA records of the domain, or remove them.",
    dnssec: "Repair the DNSSEC signatures of the domain.",
    rateLimited:
      "Nothing: the next attempt waits until the limit allows it. TLS_CLUSTER_ISSUER=letsencrypt-staging has wider limits for trying out.",
    rejectedIdentifier: "Choose a domain that this certificate authority signs for.",
    externalAccountRequired: "Set ACME_EAB_KID and ACME_EAB_HMAC_KEY to what the certificate authority gave you.",
    invalidContact: "Set ACME_EMAIL to an address that exists, or leave it out.",
    unsupportedContact: "Set ACME_EMAIL to an address that exists, or leave it out.",
    userActionRequired: "Follow the link in the message: the certificate authority asks for your consent.",
    badCSR: "Report this as a fault of the deployment tool.",
    tls: "Look at what answers on the public address.",
    incorrectResponse:
      "Let port 80 of the public address lead to this machine's ingress (HTTP-01), or check that the DNS server publishes what was written (DNS-01).",
  }),
);

function adviseOn(kind: string, status: number): string {
  return (
    ADVICE.get(kind) ??
    (status >= 500
      ? "Nothing: the server has a fault of its own and is asked again later."
      : "Check ACME_DIRECTORY_URL, ACME_EAB_KID and ACME_EAB_HMAC_KEY.")
  );
}
