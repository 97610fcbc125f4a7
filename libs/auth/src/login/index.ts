export { addBackChannelLogout } from "./back-channel-logout.ts";
export { exchangeCode } from "./code-exchange.ts";
export { addConsoleLogin } from "./console-login.ts";
export { LoginFailure, type LoginFailureKind } from "./login-failure.ts";
export { type LoginFlow, createLoginFlow } from "./login-flow.ts";
export { type OidcClient, createOidcClient } from "./oidc-client.ts";
