import type { ProtectedResource } from "@swath/manifest";

/** A client as the deployment declares it (`IdentityClient` of the manifests), with its secret read. */
export interface DeclaredClient {
  readonly clientId: string;
  readonly name: string;
  readonly description?: string;
  /** A public client has none. */
  readonly secret?: string;
  /** Accepted as well, while the secret is being changed. */
  readonly otherSecret?: string;
  readonly redirectUris?: readonly string[];
  readonly webOrigins?: readonly string[];
  readonly backChannelLogoutUri?: string;
  readonly resources?: readonly ProtectedResource[];
  /** Its tokens are for every service of the deployment. */
  readonly tokensForPlatform?: boolean;
  /** Roles of `realm-management` that its service account has. Nobody logs in to such a client. */
  readonly managementRoles?: readonly string[];
}

/**
 * Reads IDENTITY_CLIENTS; secrets come from variables of their own, so that no list of clients holds them.
 * @throws {Error} naming the variable that is missing
 */
export function readDeclaredClients(text: string, env: NodeJS.ProcessEnv): readonly DeclaredClient[] {
  const clients = JSON.parse(text) as readonly (DeclaredClient & { readonly secretEnv?: string })[];
  return clients.map(({ secretEnv, ...client }) => {
    if (secretEnv === undefined) {
      return client;
    }
    const secret = env[secretEnv];
    if (secret === undefined || secret === "") {
      throw new Error(`${secretEnv}, the secret of client ${client.clientId}, is missing`);
    }
    const otherSecret = env[`${secretEnv}_ALSO`];
    return { ...client, secret, ...(otherSecret !== undefined && otherSecret !== "" && { otherSecret }) };
  });
}
