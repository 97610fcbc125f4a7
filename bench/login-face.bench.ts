import { median } from "./median.ts";
import { PASSWORD, SECRET, startBenchIdentity } from "./start-identity.ts";
import type { BenchRow } from "./types.ts";

const ROUNDS = 200;
const CLAIM_FORMAT = "http://openid.net/specs/openid-connect-core-1_0.html#IDToken";

/** The login service of variant B: a permission ticket for a token, and a decision over HTTP. */
export async function bench(): Promise<BenchRow[]> {
  const resources = [{ name: "eric", uris: ["/eric/*"], users: ["eric"] }];
  const identity = await startBenchIdentity(
    ["eric"],
    { resources },
    { LOGIN_SCOPES: "true", LOGIN_PROVIDER: "oxauth" },
  );
  try {
    return await measure(identity.url);
  } finally {
    await identity.close();
  }
}

type Json = Record<string, unknown>;

async function measure(url: string): Promise<BenchRow[]> {
  const send = async (path: string, body: URLSearchParams | object, token?: string): Promise<Json> => {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: {
        ...(!isForm && { "content-type": "application/json" }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: isForm ? body : JSON.stringify(body),
    });
    const json = (await response.json()) as Json;
    if (!response.ok) {
      throw new Error(`${path} answered ${response.status}: ${JSON.stringify(json)}`);
    }
    return json;
  };
  const login = async (form: Record<string, string>) => send("/oxauth/restv1/token", new URLSearchParams(form));
  const admin = String(
    (await login({ grant_type: "password", client_id: "admin-cli", username: "admin", password: PASSWORD }))[
      "access_token"
    ],
  );
  const client = await send(
    "/oxauth/restv1/register",
    { client_name: "bench", grant_types: ["password"], token_endpoint_auth_method: "client_secret_post" },
    admin,
  );
  const credentials = { client_id: String(client["client_id"]), client_secret: String(client["client_secret"]) };
  const own = { grant_type: "password", username: "eric", password: PASSWORD, scope: "openid user_name" };
  const user = String((await login({ ...own, ...credentials }))["id_token"]);
  const server = String(
    (await login({ grant_type: "client_credentials", client_id: "service", client_secret: SECRET }))["access_token"],
  );
  const [resource] = (await (
    await fetch(`${url}/oxauth/restv1/host/rsrc/resource_set?name=eric&exactName=true`, {
      headers: { authorization: `Bearer ${server}` },
    })
  ).json()) as string[];
  const question = {
    Request: {
      AccessSubject: [{ Attribute: [{ AttributeId: "user_name", Value: "eric" }] }],
      Action: [{ Attribute: [{ AttributeId: "action-id", Value: "view" }] }],
      Resource: [{ Attribute: [{ AttributeId: "resource-id", Value: resource }] }],
    },
  };
  const exchanges: number[] = [];
  const decisions: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { ticket } = await send("/oxauth/restv1/host/rsrc_pr", [{ resource_id: resource }], server);
    const started = performance.now();
    await login({
      grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket",
      claim_token: user,
      claim_token_format: CLAIM_FORMAT,
      ticket: String(ticket),
      ...credentials,
    });
    exchanges.push(performance.now() - started);
    const response = performance.now();
    await send("/pdp/policy/validate", question, admin);
    decisions.push(performance.now() - response);
  }
  const row = (name: string, times: readonly number[]): BenchRow => ({
    name,
    value: median(times),
    unit: "ms",
    aim: "≤ 5 ms",
  });
  return [
    row("login service: permission ticket for a token", exchanges),
    row("decision point: a decision over HTTP", decisions),
  ];
}
