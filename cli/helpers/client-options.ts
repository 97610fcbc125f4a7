import { parseArgs } from "node:util";

import { CommandError } from "../commands/command.ts";

/** A protected resource of a client as the identity API takes it. */
export interface ResourceRequest {
  readonly name: string;
  readonly uris: readonly string[];
  readonly scopes: readonly string[];
  readonly permissions: {
    readonly user?: readonly string[];
    readonly role?: readonly string[];
    readonly authenticated?: true;
  };
}

/** What the command line of create-client says. */
export interface ClientOptions {
  readonly help: boolean;
  readonly authServer: string | undefined;
  readonly identityApi: string | undefined;
  readonly realm: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly client: string | undefined;
  readonly token: string | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly secret: string | undefined;
  readonly public: boolean;
  /** Where logins may lead back to; none for what the service takes. */
  readonly redirectUris: readonly string[];
  readonly resources: readonly ResourceRequest[];
}

const text = (short?: string) => ({ type: "string", ...(short !== undefined && { short }) }) as const;
const flag = { type: "boolean" } as const;

/**
 * Reads the command line of create-client. Options after a `--resource` belong to it, until the next one.
 * @throws {CommandError}
 */
export function parseClientOptions(args: readonly string[]): ClientOptions {
  const { values, tokens } = parseArgs({
    args: [...args],
    tokens: true,
    options: {
      "auth-server": text("a"),
      "identity-api": text("i"),
      realm: text("r"),
      user: text("u"),
      password: text("p"),
      client: text("c"),
      secret: text("s"),
      token: text("t"),
      id: text(),
      name: text(),
      description: text(),
      public: flag,
      "redirect-uris": text(),
      default: flag,
      authenticated: flag,
      resource: text(),
      uris: text(),
      scopes: text(),
      users: text(),
      roles: text(),
      help: { type: "boolean", short: "h" },
    },
  });
  return {
    help: values.help ?? false,
    authServer: values["auth-server"],
    identityApi: values["identity-api"],
    realm: values.realm,
    user: values.user,
    password: values.password,
    client: values.client,
    token: values.token,
    id: values.id,
    name: values.name,
    description: values.description,
    secret: values.secret,
    public: values.public ?? false,
    redirectUris: toList(values["redirect-uris"] ?? ""),
    resources: groupResources(tokens),
  };
}

interface Draft {
  readonly name: string;
  uris: readonly string[];
  scopes: readonly string[];
  users: readonly string[];
  roles: readonly string[];
  authenticated: boolean;
}

type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];

function groupResources(tokens: readonly Token[]): readonly ResourceRequest[] {
  const drafts: Draft[] = [];
  const start = (name: string, uris: readonly string[], authenticated: boolean) =>
    drafts.push({ name, uris, scopes: ["view"], users: [], roles: [], authenticated });
  const current = (option: string): Draft => {
    const draft = drafts.at(-1);
    if (draft === undefined) {
      throw new CommandError(`--${option} belongs to a resource: put --resource=<name> before it`);
    }
    return draft;
  };
  for (const token of tokens) {
    if (token.kind !== "option") {
      continue;
    }
    switch (token.name) {
      case "resource":
        start(token.value ?? "", [], false);
        break;
      case "default":
        start("Default Resource", ["/*"], true);
        break;
      case "authenticated":
        current(token.name).authenticated = true;
        break;
      case "uris":
      case "scopes":
      case "users":
      case "roles":
        current(token.name)[token.name] = toList(token.value ?? "");
        break;
    }
  }
  return drafts.map(toRequest);
}

function toRequest({ name, uris, scopes, users, roles, authenticated }: Draft): ResourceRequest {
  if (name === "" || uris.length === 0) {
    throw new CommandError(
      `resource ${JSON.stringify(name)} has no ${name === "" ? "name" : "addresses: add --uris=/path/*"}`,
    );
  }
  return {
    name,
    uris,
    scopes,
    permissions: {
      ...(users.length > 0 && { user: users }),
      ...(roles.length > 0 && { role: roles }),
      ...(authenticated && { authenticated: true as const }),
    },
  };
}

function toList(value: string): readonly string[] {
  return value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
