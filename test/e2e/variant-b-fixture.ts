import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type CommandResult, createTestCluster, runCommand } from "@swath/testing";

// The earlier release line: one variable, the scripts, options and clients as they were.
const VARIABLES = {
  PLATFORM_VARIANT: "B",
  USE_TLS: "false",
  REQUIRE_DUMMY_SERVICE: "true",
  REQUIRE_DUMMY_SERVICE_PROTECTION: "true",
  REQUIRE_DATA_ACCESS: "false",
  REQUIRE_RESOURCE_CATALOGUE: "false",
  REQUIRE_PDE: "false",
  REQUIRE_REGISTRY: "false",
  STAGEOUT_TARGET: "workspace",
};
export const PASSWORD = "changeme";
export const ROOT = join(import.meta.dirname, "../..");

/** A package whose job says hello. */
export const GREETING = `cwlVersion: v1.2
s:softwareVersion: 1.2.3
$namespaces: { s: "https://schema.org/" }
$graph:
  - class: Workflow
    id: greet
    inputs: { name: string }
    steps: { run: { run: "#tool", in: { name: name }, out: [text] } }
    outputs: { text: { type: string, outputSource: run/text } }
  - class: CommandLineTool
    id: tool
    baseCommand: [echo, hello]
    inputs: { name: { type: string, inputBinding: { position: 1 } } }
    stdout: out.txt
    outputs: { text: { type: string, outputBinding: { glob: out.txt, loadContents: true, outputEval: "$(self[0].contents)" } } }
`;

interface Ask {
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** A deployment of variant B and what people do with it. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- what it gives is what follows
export async function startVariantB(variables: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "swath-b-"));
  const cluster = await createTestCluster({ ...VARIABLES, ...variables });
  const env = { ...cluster.env, SWATH_CLUSTER: cluster.name, SWATH_CLIENT_FILE: join(folder, "client.yaml") };
  const bin = (name: string, ...args: readonly string[]): Promise<CommandResult> =>
    runCommand(join(ROOT, "deploy/bin", name), args, { env });
  const protect = (...args: readonly string[]): Promise<CommandResult> =>
    runCommand(join(ROOT, "deploy/swath/swath-protection.sh"), args, { env });
  const url = (service: string, path = "/") => `http://${service}.${cluster.domain}:${cluster.port}${path}`;

  /** A request by curl, as a user would type it. */
  async function send(service: string, path: string, { method, headers = [], body }: Ask = {}) {
    const { stdout } = await runCommand("curl", [
      "-sS",
      "-D-",
      "-w",
      "\n%{http_code}",
      url(service, path),
      ...(method === undefined ? [] : ["-X", method]),
      ...headers.flatMap((header) => ["-H", header]),
      ...(body === undefined ? [] : ["--data-binary", body]),
    ]);
    const at = stdout.lastIndexOf("\n");
    const [, head = "", text = ""] = /^([^]*?)\r\n\r\n([^]*)$/.exec(stdout.slice(0, at)) ?? [];
    const header = (name: string) => new RegExp(`^${name}: *(.*)$`, "im").exec(head)?.[1]?.trim();
    return { status: Number(stdout.slice(at + 1)), body: text, header };
  }

  function readClient(): { id: string; secret: string } {
    const text = readFileSync(env["SWATH_CLIENT_FILE"] ?? "", "utf8");
    const [, id = "", secret = ""] = /^client-id: (\S+)\nclient-secret: (\S+)\n$/.exec(text) ?? [];
    return { id, secret };
  }

  async function idTokenOf(username: string, client = readClient()): Promise<string> {
    const { body } = await send("auth", "/oxauth/restv1/token", {
      headers: ["Cache-Control: no-cache", "Content-Type: application/x-www-form-urlencoded"],
      body: new URLSearchParams({
        scope: "openid user_name is_operator",
        grant_type: "password",
        username,
        password: PASSWORD,
        client_id: client.id,
        client_secret: client.secret,
      }).toString(),
    });
    return (JSON.parse(body) as { id_token: string }).id_token;
  }

  /** The status that the decision point answers to a question about a user. */
  async function decide({
    as,
    user,
    action,
    resource,
  }: Readonly<Record<"as" | "user" | "action" | "resource", string>>) {
    const attribute = (AttributeId: string, Value: string) => [{ Attribute: [{ AttributeId, Value }] }];
    const { status } = await send("auth", "/pdp/policy/validate", {
      method: "GET",
      headers: ["Content-Type: application/json", `X-User-Id: ${as}`],
      body: JSON.stringify({
        Request: {
          AccessSubject: attribute("user_name", user),
          Action: attribute("action-id", action),
          Resource: attribute("resource-id", resource),
        },
      }),
    });
    return status;
  }

  /** The owner of a registered resource lists what comes with it, and changes one of it into a policy that is stored. */
  async function checkDefaultPolicy({
    owner,
    other,
    resource,
  }: Readonly<Record<"owner" | "other" | "resource", string>>) {
    const ask = async (who: string, path: string, method: string, body: object) => {
      const headers = ["Content-Type: application/json", `Authorization: Bearer ${who}`];
      return await send("auth", `/pdp/policy/${path}`, { method, headers, body: JSON.stringify(body) });
    };
    const list = (who: string) => ask(who, "", "GET", { resource_id: resource });
    const findOfGet = async () => {
      const { policies } = JSON.parse((await list(owner)).body) as {
        policies: readonly { _id: string; config: { action: string } }[];
      };
      const found = policies.filter(({ config }) => config.action === "get");
      assert.equal(found.length, 1);
      return found[0]?._id ?? "";
    };
    assert.equal((await list(other)).status, 401);
    const id = await findOfGet();
    assert.equal((await ask(other, id, "GET", {})).status, 401);
    assert.equal((await ask(owner, id, "DELETE", {})).status, 409);
    const changed = {
      config: { rules: [{ OR: [{ EQUAL: { user_name: "eric" } }, { EQUAL: { user_name: "bob" } }] }] },
    };
    assert.equal((await ask(other, id, "PUT", changed)).status, 401);
    assert.equal((await ask(owner, id, "PUT", changed)).status, 200);
    const decision = { as: owner, user: "eric", action: "get", resource };
    assert.equal(await decide(decision), 200);
    assert.equal((await ask(owner, await findOfGet(), "DELETE", {})).status, 204);
    assert.equal(await decide(decision), 401);
  }

  const close = async () => {
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { cluster, env, bin, protect, url, send, decide, checkDefaultPolicy, readClient, idTokenOf, close };
}

/** What a token says. */
export const claimsOf = (token: string): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Readonly<Record<string, unknown>>;
