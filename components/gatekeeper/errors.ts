import { Problem } from "@swath/service";

/** Every refusal of the gatekeeper: stable code, HTTP status, what the client is told. */
export const REFUSALS = {
  AMBIGUOUS_REQUEST: { status: 400, detail: "This request can be read in more than one way" },
  AMBIGUOUS_COOKIES: { status: 400, detail: "This request brings several different cookies of one name" },
  LOGIN_FAILED: { status: 400, detail: "This login cannot be completed" },
  BAD_PARAMETER: { status: 400, detail: "A parameter is missing or not allowed" },
  TOKEN_MISSING: { status: 401, detail: "This address needs a token: send `Authorization: Bearer <access token>`" },
  TOKEN_INVALID: { status: 401, detail: "The token is not valid any more, or never was: get a new one" },
  CROSS_SITE: { status: 403, detail: "A page of another site may not use your login; send a token instead" },
  FORBIDDEN: { status: 403, detail: "You are not allowed to use this address" },
  UNKNOWN_PATH: { status: 404, detail: "There is nothing at this address" },
  METHOD: { status: 405, detail: "This method is not allowed here" },
  UNKNOWN_HOST: { status: 421, detail: "No protected service has this host name" },
  UPSTREAM: { status: 502, detail: "The service behind this address does not answer" },
  TOKEN_TOO_LARGE: { status: 502, detail: "The issuer's token does not fit into a cookie" },
  ISSUER_UNAVAILABLE: { status: 503, detail: "The identity service does not answer; try again shortly" },
  NOT_SHARED: { status: 503, detail: "The logout could not be told to all of the platform; try again shortly" },
  NO_ISSUER: { status: 503, detail: "This address is protected, and no identity service is deployed to log in at" },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

interface RefusalOptions {
  /** Said after the refusal's own sentence. */
  readonly because?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A refusal as problem details with its `code`. */
export class Refusal extends Problem {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, { because, headers = {}, cause }: RefusalOptions = {}) {
    const { status, detail } = REFUSALS[code];
    super(status, because === undefined ? `${detail}.` : `${detail}: ${because}.`, {
      extensions: { code },
      headers,
      cause,
    });
    this.code = code;
  }
}
