import { CommandError } from "../commands/command.ts";
import { type AdminSession, createAdminSession, describe } from "../helpers/admin-session.ts";
import { findPassword, readAddress, readDeployment } from "../helpers/defaults.ts";
import type { HelperContext } from "../helpers/helper.ts";

/** Options of the commands that ask the registration API; what is left out is the scripted deployment's. */
export interface RegistrationOptions {
  readonly url?: string | undefined;
  readonly authServer?: string | undefined;
  readonly realm?: string | undefined;
  readonly client?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** How the password is given, for a message. */
  readonly passwordOption: string;
}

/** The registration API, asked by an operator. */
export interface RegistrationSession {
  readonly url: string;
  readonly request: (
    method: string,
    path: string,
    body?: unknown,
    type?: string,
  ) => ReturnType<AdminSession["request"]>;
  /** Sends a request that is accepted as a task. @returns its id @throws {CommandError} with the reason when it is refused */
  readonly accept: (path: string, body: unknown, type?: string) => Promise<string>;
}

/** Options in the words of deploy/bin's helpers, for `parseArgs`. */
const text = (short: string) => ({ type: "string", short }) as const;
export const registrationOptions = {
  api: { type: "string" },
  "auth-server": text("a"),
  realm: text("r"),
  client: text("c"),
  "admin-user": text("u"),
  "admin-password": text("p"),
  help: { type: "boolean", short: "h" },
} as const;

export const REGISTRATION_OPTIONS_USAGE = `
  --api <address>      address of the registration API (default: the scripted deployment's)
  -a <auth_server>     address of the identity service (default: the scripted deployment's)
  -r <realm>           realm (default: master)
  -u <admin-username>  operator (default: admin)
  -p <admin-password>  (default: IDENTITY_SERVICE_ADMIN_PASSWORD, the scripted deployment's, or asked for on a terminal)
  -c <client>          client for the operator's login (default: admin-cli)
  --cluster <name>     deployment whose addresses are the defaults
  -h                   this text
`;

type Parsed = Readonly<
  Partial<Record<"api" | "auth-server" | "realm" | "client" | "admin-user" | "admin-password", string>>
>;

export const toRegistrationOptions = (values: Parsed): RegistrationOptions => ({
  url: values.api,
  authServer: values["auth-server"],
  realm: values.realm,
  client: values.client,
  user: values["admin-user"],
  password: values["admin-password"],
  passwordOption: "-p",
});

/** Opens the registration API of a deployment. Nobody logs in where it asks for no token. */
export async function openRegistration(
  context: HelperContext,
  options: RegistrationOptions,
): Promise<RegistrationSession> {
  const deployment = await readDeployment(context);
  const url = readAddress(options.url ?? deployment.requireUrl("registration-api"), "--api");
  const user = options.user ?? deployment.adminUser ?? "admin";
  const session = createAdminSession({
    authServer: readAddress(options.authServer ?? deployment.url("identity"), "-a"),
    realm: options.realm ?? deployment.realm ?? "master",
    client: options.client ?? deployment.adminClient ?? "admin-cli",
    user,
    startsWithoutToken: true,
    readPassword: async () =>
      findPassword(context, user, {
        provided: options.password,
        known: options.password ?? (await deployment.readAdminPassword()),
        option: options.passwordOption,
      }),
    print: context.terminal.print,
    fetch: deployment.fetch,
  });
  const request: RegistrationSession["request"] = (method, path, body, type) =>
    session.request(method, `${url}${path}`, body, type);
  return {
    url,
    request,
    accept: async (path, body, type) => {
      const response = await request("POST", path, body, type);
      const id = /\/tasks\/(\d+)$/.exec(response.location ?? "")?.[1];
      if (response.status >= 300 || id === undefined) {
        throw new CommandError(`the registration API refuses it: ${describe(response.status, response.body)}`);
      }
      return id;
    },
  };
}
