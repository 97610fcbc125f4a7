import { adminRealmPath } from "@swath/manifest/realm-paths";
import { CommandError } from "../commands/command.ts";
import { type AdminSession, createAdminSession, describe } from "./admin-session.ts";
import { type ClientOptions, parseClientOptions } from "./client-options.ts";
import { findPassword, readAddress, readDeployment } from "./defaults.ts";
import type { Helper, HelperContext } from "./helper.ts";

const USAGE = `Usage: create-client --id=<client-id> [option ...]

Creates a client of the identity service, with the resources it protects. One that exists already is left alone.
Without any option it asks, on a terminal.

  -a <auth_url>             address of the identity service (default: the scripted deployment's)
  -i <identity_api_url>     address of the identity API (default: the scripted deployment's)
  -r <realm>                realm (default: master)
  -u <admin-user>           administrator (default: admin)
  -p <admin-password>       (default: IDENTITY_SERVICE_ADMIN_PASSWORD, the scripted deployment's, or asked for on a terminal)
  -c <bootstrap-client>     client for the administrator's login (default: admin-cli)
  -t, --token=<token>       access token instead of user and password
  --id=<client-id>
  --name=<display-name>     (default: the id)
  --description=<text>
  -s, --secret=<secret>     secret of a confidential client (default: IDENTITY_GATEKEEPER_CLIENT_SECRET, or made by the service)
  --public                  a public client, which has no secret and protects nothing
  --redirect-uris=<uri,...> where logins may lead back to; * at the end of a path stands for what follows (default: any host of the deployment)
  --default                 the resource "Default Resource": /* for everybody with a token
  --resource=<name>         begins a resource; the options below belong to it
  --uris=<path,...>         its paths: /eric/*
  --scopes=<scope,...>      (default: view)
  --users=<user,...>        users who may use it
  --roles=<role,...>        roles whose holders may use it
  --authenticated           everybody with a token may use it
  --cluster=<name>          deployment whose addresses are the defaults
  -h, --help                this text
`;

/** deploy/bin/create-client */
export const createClient: Helper = async (context) => {
  const typed = parseClientOptions(context.args);
  if (typed.help) {
    context.stdout.write(USAGE);
    return;
  }
  const options = await completeOptions(context, typed);
  const { id } = options;
  if (id === undefined || id === "") {
    throw new CommandError(`the client's id is missing: --id=<client-id>\n\n${USAGE}`);
  }
  if (options.public && options.secret !== undefined) {
    throw new CommandError("a public client has no secret: leave out --public or --secret");
  }
  if (options.public && options.resources.length > 0) {
    throw new CommandError("a public client protects no resources: leave out --public or --resource and --default");
  }
  const deployment = await readDeployment(context);
  const authServer = readAddress(options.authServer ?? deployment.url("identity"), "-a");
  const identityApi = readAddress(options.identityApi ?? deployment.requireUrl("identity-api"), "-i");
  const realm = options.realm ?? deployment.realm ?? "master";
  const user = options.user ?? deployment.adminUser ?? "admin";
  const session = createAdminSession({
    authServer,
    realm,
    client: options.client ?? deployment.adminClient ?? "admin-cli",
    user,
    token: options.token,
    readPassword: async () =>
      findPassword(context, user, {
        provided: options.password,
        known: options.password ?? (await deployment.readAdminPassword()),
        option: "-p, or -t <token>",
      }),
    print: context.terminal.print,
    fetch: deployment.fetch,
  });
  const secret = options.secret ?? context.env["IDENTITY_GATEKEEPER_CLIENT_SECRET"];
  const { status, body } = await session.request("POST", `${identityApi}/clients`, {
    clientId: id,
    name: options.name ?? id,
    description: options.description ?? `Client ${id}`,
    ...(options.public ? { publicClient: true } : secret !== undefined && { secret }),
    ...(options.redirectUris.length > 0 && { redirectUris: options.redirectUris }),
    ...(options.resources.length > 0 && { resources: options.resources }),
  });
  if (status !== 200 && status !== 201 && status !== 409) {
    throw new CommandError(`client ${id} cannot be created: ${describe(status, body)}`);
  }
  context.stdout.write(`${JSON.stringify(body)}\n`);
  if (!options.public) {
    const resource = await addViewScope(session, `${authServer}${adminRealmPath(realm)}`, id);
    if (resource !== undefined) {
      context.stdout.write(`${JSON.stringify(resource)}\n`);
    }
  }
};

async function completeOptions({ args, terminal }: HelperContext, options: ClientOptions): Promise<ClientOptions> {
  if (args.length > 0 || !terminal.isInteractive) {
    return options;
  }
  const id = await terminal.send("Client id: ");
  const name = await terminal.send(`Name [${id}]: `);
  const isPublic = /^y/i.test(await terminal.send("Public client? [y/N]: "));
  const secret = isPublic ? "" : await terminal.callSecret("Secret (empty: made by the service): ");
  return {
    ...options,
    id,
    public: isPublic,
    ...(name !== "" && { name }),
    ...(secret !== "" && { secret }),
  };
}

interface Resource {
  readonly _id: string;
  readonly name: string;
  readonly scopes?: readonly { readonly name: string }[];
}

/** Lets the client's default resource be asked for with the scope that the gatekeeper asks for. */
async function addViewScope({ request }: AdminSession, admin: string, clientId: string): Promise<unknown> {
  const found = await request("GET", `${admin}/clients?clientId=${encodeURIComponent(clientId)}`);
  const clients = Array.isArray(found.body) ? (found.body as readonly { id: string; clientId: string }[]) : [];
  const uuid = clients.find((client) => client.clientId === clientId)?.id;
  if (found.status !== 200 || uuid === undefined) {
    throw new CommandError(
      `client ${clientId} was created, but cannot be found again: ${describe(found.status, found.body)}`,
    );
  }
  const base = `${admin}/clients/${encodeURIComponent(uuid)}/authz/resource-server/resource`;
  const list = await request("GET", base);
  // A client without protected resources answers 404.
  const resources = list.status === 200 && Array.isArray(list.body) ? (list.body as readonly Resource[]) : [];
  const listed = resources.find(({ name }) => name === "Default Resource");
  if (listed === undefined) {
    return undefined;
  }
  const address = `${base}/${encodeURIComponent(listed._id)}`;
  const current = (await request("GET", address)).body as Resource;
  const scopes = current.scopes ?? [];
  if (scopes.some(({ name }) => name === "view")) {
    return current;
  }
  const { status, body } = await request("PUT", address, { ...current, scopes: [...scopes, { name: "view" }] });
  if (status !== 204 && status !== 200) {
    throw new CommandError(`the default resource of ${clientId} cannot be changed: ${describe(status, body)}`);
  }
  return (await request("GET", address)).body;
}
