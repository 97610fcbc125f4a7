import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { REQUIRED_ACTIONS } from "../login/required-actions.ts";
import { notFound } from "./errors.ts";
import { type AdminRequest, forRoles } from "./request.ts";

interface Execution {
  readonly authenticator: string;
  readonly displayName: string;
  readonly requirement: "REQUIRED" | "ALTERNATIVE" | "CONDITIONAL" | "DISABLED";
}

interface Flow {
  readonly id: string;
  readonly alias: string;
  readonly description: string;
  readonly executions: readonly Execution[];
}

/** The ways in that there are. They are part of the service: whether a second factor is asked for, realms and roles say. */
const FLOWS: readonly Flow[] = [
  {
    id: "00000000-0000-4000-8000-000000000001",
    alias: "browser",
    description: "Login pages",
    executions: [
      { authenticator: "auth-cookie", displayName: "Cookie", requirement: "ALTERNATIVE" },
      { authenticator: "auth-username-password-form", displayName: "User name and password", requirement: "REQUIRED" },
      { authenticator: "auth-otp-form", displayName: "One-time code", requirement: "CONDITIONAL" },
    ],
  },
  {
    id: "00000000-0000-4000-8000-000000000002",
    alias: "direct grant",
    description: "The password grant of programs",
    executions: [
      { authenticator: "direct-grant-validate-password", displayName: "Password", requirement: "REQUIRED" },
      { authenticator: "direct-grant-validate-otp", displayName: "One-time code", requirement: "CONDITIONAL" },
    ],
  },
  {
    id: "00000000-0000-4000-8000-000000000003",
    alias: "clients",
    description: "How clients say who they are",
    executions: [{ authenticator: "client-secret", displayName: "Client id and secret", requirement: "ALTERNATIVE" }],
  },
];

const show = ({ executions, ...flow }: Flow) => ({
  ...flow,
  providerId: "basic-flow",
  topLevel: true,
  builtIn: true,
  authenticationExecutions: executions.map(({ authenticator, requirement }, priority) => ({
    authenticator,
    authenticatorFlow: false,
    requirement,
    priority,
    userSetupAllowed: false,
  })),
});

/** `/admin/realms/{realm}/authentication`: the flows and required actions, to be read. */
export function addAuthenticationRoutes(app: FastifyInstance, context: IdentityContext): void {
  const base = "/admin/realms/:realm/authentication";
  const openFlow = ({ params }: AdminRequest): Flow => {
    const name = params["flow"] ?? "";
    const flow = FLOWS.find(({ id, alias }) => id === name || alias === name);
    if (flow === undefined) {
      throw notFound("Flow");
    }
    return flow;
  };
  const openAction = ({ params }: AdminRequest) => {
    const action = REQUIRED_ACTIONS.find(({ alias }) => alias === params["alias"]);
    if (action === undefined) {
      throw notFound("Required action");
    }
    return action;
  };
  const showAction = ({ alias, name }: (typeof REQUIRED_ACTIONS)[number], priority: number) => ({
    alias,
    name,
    providerId: alias,
    enabled: true,
    defaultAction: false,
    priority,
    config: {},
  });
  const get = (path: string, response: (request: AdminRequest) => unknown) =>
    app.get(`${base}/${path}`, forRoles(context, ["view-realm"], response));

  get("flows", () => FLOWS.map(show));
  get("flows/:flow", (request) => show(openFlow(request)));
  get("flows/:flow/executions", (request) =>
    openFlow(request).executions.map(({ authenticator, displayName, requirement }, index) => ({
      id: `${openFlow(request).alias}-${authenticator}`.replaceAll(" ", "-"),
      requirement,
      displayName,
      requirementChoices: [requirement],
      configurable: false,
      providerId: authenticator,
      level: 0,
      index,
      priority: index,
    })),
  );
  get("required-actions", () => REQUIRED_ACTIONS.map(showAction));
  get("required-actions/:alias", (request) => showAction(openAction(request), 0));
  get("unregistered-required-actions", () => []);
  get("authenticator-providers", () =>
    FLOWS.flatMap(({ executions }) => executions).map(({ authenticator: id, displayName }) => ({
      id,
      displayName,
      description: displayName,
    })),
  );
  get("client-authenticator-providers", () => [
    { id: "client-secret", displayName: "Client id and secret", description: "HTTP Basic or fields of the form" },
    { id: "client-secret-jwt", displayName: "Signed JWT with the secret", description: "RFC 7523, HMAC" },
    { id: "client-jwt", displayName: "Signed JWT", description: "RFC 7523, with a key of the client" },
  ]);
  get("form-providers", () => []);
  get("form-action-providers", () => []);
}
