export { type Administrators, administratorSettings, isAdministrator, readAdministrators } from "./administrators.ts";
export { USER_ID_HEADER, readBearerToken, readRequestToken, readRequestTokens } from "./bearer.ts";
export {
  type AskingRequest,
  type Caller,
  type CallerOptions,
  IGNORED_TOKEN_HEADER,
  TOKEN_KEY_HEADER,
  createCallerOf,
} from "./caller.ts";
export { type AccessTokenClaims, PLATFORM_AUDIENCE, audiencesOf, readAudiences } from "./claims.ts";
export {
  type CookieOptions,
  MAX_COOKIE,
  type RequestCookies,
  parseCookies,
  readCookie,
  renderCookie,
  valuesOfCookie,
} from "./cookies.ts";
export {
  DPOP_ALGORITHMS,
  DPOP_SECONDS,
  DpopError,
  type DpopProof,
  boundKeyOf,
  checkDpopProof,
  readDpopToken,
} from "./dpop.ts";
export { type Issuer, type IssuerResponse, type IssuerMetadata, type IssuerOptions, openIssuer } from "./issuer.ts";
export { createIssuerCheck } from "./issuer-check.ts";
export { type KeySet, createKeySet } from "./key-set.ts";
export { type EndedLogin, type LogoutTokenVerifier, createLogoutTokenVerifier } from "./logout-token.ts";
export { isOwnOrigin } from "./own-origin.ts";
export { type RefreshOnce, createRefreshOnce } from "./refresh-once.ts";
export { IssuerUnavailableError, TokenError, type TokenErrorCode } from "./token-error.ts";
export { createTokenId, isIssuedBefore } from "./token-id.ts";
export { type TokenVerifier, type VerifiedToken, type VerifyOptions, createTokenVerifier } from "./verifier.ts";

export {
  type Evaluator,
  METHOD_RESOURCE_TYPE,
  type PathDecision,
  type ResourceDecision,
  VIEW_SCOPE,
  createEvaluator,
  hasScopes,
  methodScope,
  permissionScope,
} from "./policy/evaluator.ts";
export { type ClaimNames, identityOf } from "./policy/identity-of.ts";
export { type RuleNode, evaluateRules, findRuleMistake } from "./policy/rules.ts";
export { type UriIndex, createUriIndex } from "./policy/match-uri.ts";
export type * from "./policy/types.ts";
