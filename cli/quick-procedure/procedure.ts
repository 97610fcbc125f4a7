import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { listTestUsers, realmPath } from "@swath/manifest";
import { createS3Signer } from "@swath/s3";

import { CommandError } from "../commands/command.ts";
import { listUrls } from "../commands/operation/urls.ts";
import type { Plan } from "../platform/plan.ts";
import { createDeploymentFetch } from "../targets/deployment-fetch.ts";
import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import type { Target } from "../targets/target.ts";
import { drawPicture, showsColours } from "../view/draw-picture.ts";
import { type ShownRequest, type Transcript, createTranscript } from "./transcript.ts";

const USER = "eric";
/** The workflow of the package; in variant B its version follows. */
const IDS = /^ndvi(?:-\d\w*)?$/;
const BUCKET = "results";
const SCENE = join(repositoryRoot, "examples/scenes/canberra");
const PACKAGE = join(repositoryRoot, "examples/packages/ndvi.cwl");
const PICTURE_COLUMNS = 64;
const TIMEOUT_SECONDS = 300;

interface ProcedureContext {
  readonly target: Target;
  readonly plan: Plan;
  readonly stdout: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

export interface ProcedureEnd {
  /** What the job took. */
  readonly seconds: number;
  /** Where a browser shows the result; left out where there is no portal. */
  readonly page?: string;
}

/** What every request to the processing service carries. */
type Caller = Pick<ShownRequest, "headers" | "hidden">;

/** A request to the object store as its root user. */
type StoreRequest = (method: "GET" | "PUT", path: string) => Promise<ShownRequest>;

/**
 * The quick procedure of the simple deployment: a scene into the object store, then list, deploy, details, execute, status,
 * result, list jobs, each shown as the request that a person could have typed.
 * @throws {CommandError} when the deployment lacks what it needs, an answer is an error, or the job fails
 */
export async function runQuickProcedure(context: ProcedureContext): Promise<ProcedureEnd> {
  const { target, plan, stdout } = context;
  const urls = new Map(listUrls(plan));
  const store = requireUrl(urls, "objstore", "no object store");
  const isOpen = urls.has("ades-open");
  const ades = requireUrl(urls, isOpen ? "ades-open" : "ades", "no processing service");
  if (plan.settings.variables.STAGEOUT_TARGET !== "objstore") {
    throw new CommandError(
      "results of this deployment go to workspaces; the quick procedure is for STAGEOUT_TARGET=objstore",
    );
  }
  const fetch = createDeploymentFetch(plan.settings.domain, await target.readAccess());
  const transcript = createTranscript(fetch, stdout);
  stdout.write(
    `The vegetation index (NDVI) of a Landsat scene of Canberra, by the processing API of the ${target.title}.\n`,
  );

  const send = await createStoreRequests(context, store);
  await putInputs(transcript, send);
  const caller: Caller = {
    headers: { accept: "application/json" },
    ...(!isOpen && { hidden: await login(transcript, context, requireUrl(urls, "identity", "no identity service")) }),
  };
  const location = await execute(transcript, ades, caller);
  const seconds = await waitUntilDone(transcript, { ...caller, url: new URL(location, ades).href }, stdout);

  transcript.step("Where is the result?");
  const result = await transcript.send({ ...caller, url: new URL(`${location}/result`, ades).href });
  transcript.step("List the jobs");
  await transcript.send({ ...caller, url: `${ades}${USER}/wps3/jobs?limit=3` });

  const catalogue = (result.json() as { StacCatalogUri: string }).StacCatalogUri;
  await showPicture(catalogue, { ...context, fetch, send });
  const job = location.split("/").at(-1) ?? "";
  const portal = urls.get("portal");
  stdout.write(
    `\nDone: the job took ${seconds.toFixed(1)} s. Its result is a STAC catalogue, ${catalogue}\n` +
      (portal === undefined ? "" : `Look at it on the map: ${portal}processing/jobs/${job} ${loginHint(plan)}\n`),
  );
  return { seconds, ...(portal !== undefined && { page: `${portal}processing/jobs/${job}` }) };
}

/** How to log in as the user whose job it is. In variant B operators make their users themselves. */
export function loginHint({ settings: { variables } }: Plan): string {
  const isMade = listTestUsers(variables).some(({ name }) => name === USER);
  return `(log in as ${USER}; ${isMade ? "bin/swath credentials" : `deploy/bin/create-user -U ${USER} makes that user`})`;
}

function requireUrl(urls: ReadonlyMap<string, string>, service: string, lack: string): string {
  const url = urls.get(service);
  if (url === undefined) {
    throw new CommandError(`this deployment has ${lack}; deploy one that has: deploy/simple/simple`);
  }
  return url;
}

async function createStoreRequests({ target, plan }: ProcedureContext, store: string): Promise<StoreRequest> {
  const { OBJSTORE_ROOT_USER, OBJSTORE_ROOT_PASSWORD, OBJSTORE_REGION: region } = plan.settings.variables;
  const secretAccessKey = await target.readSecret(OBJSTORE_ROOT_PASSWORD);
  const signer = createS3Signer({ accessKeyId: OBJSTORE_ROOT_USER, secretAccessKey, region });
  const shownAs = [
    `--aws-sigv4 aws:amz:${region}:s3`,
    `--user "${OBJSTORE_ROOT_USER}:$OBJSTORE_ROOT_PASSWORD"`,
    "-H 'x-amz-content-sha256: UNSIGNED-PAYLOAD'",
  ];
  return async (method, path) => {
    const url = new URL(path, store).href;
    return { method, url, hidden: { headers: await signer.sign({ method, url }), shownAs } };
  };
}

async function putInputs(transcript: Transcript, send: StoreRequest): Promise<void> {
  transcript.step("Put a scene and an application package into the object store, where the service finds them");
  await transcript.send(await send("PUT", BUCKET), { quiet: true, fine: [409, "it is there already"] });
  for (const name of readdirSync(SCENE).filter((file) => file !== "catalog.json")) {
    const request = await send("PUT", `${BUCKET}/scenes/canberra/${name}`);
    await transcript.send({ ...request, file: relative(process.cwd(), join(SCENE, name)) }, { quiet: true });
  }
  const request = await send("PUT", `${BUCKET}/packages/ndvi.cwl`);
  await transcript.send({ ...request, file: relative(process.cwd(), PACKAGE) }, { quiet: true });
}

async function login(
  transcript: Transcript,
  { target, plan }: ProcedureContext,
  identity: string,
): Promise<NonNullable<ShownRequest["hidden"]>> {
  const { variables } = plan.settings;
  const user = listTestUsers(variables).find(({ name }) => name === USER);
  if (user === undefined) {
    throw new CommandError(`this deployment has no test user ${USER}; deploy with IDENTITY_SERVICE_TEST_USERS=true`);
  }
  transcript.step(`Get a token for ${USER}`);
  const response = await transcript.send(
    {
      method: "POST",
      url: `${identity.replace(/\/$/, "")}${realmPath(variables.IDENTITY_REALM)}/protocol/openid-connect/token`,
      form: {
        grant_type: "password",
        client_id: "admin-cli",
        scope: "openid profile email",
        username: USER,
        password: { secret: await target.readSecret(user.password), variable: "PASSWORD" },
      },
    },
    { quiet: true },
  );
  const { access_token: token } = response.json() as { access_token: string };
  return { headers: { authorization: `Bearer ${token}` }, shownAs: ['-H "Authorization: Bearer $ACCESS_TOKEN"'] };
}

/** List, deploy, details, execute; gives the location of the job. */
async function execute(transcript: Transcript, ades: string, caller: Caller): Promise<string> {
  const processes = `${ades}${USER}/wps3/processes`;
  transcript.step("List the processes");
  const listed = await transcript.send({ ...caller, url: processes });
  const { processes: known } = listed.json() as { processes: readonly { id: string }[] };
  let process = known.find(({ id }) => IDS.test(id));
  if (process === undefined) {
    transcript.step("Deploy the application package");
    const href = `s3://${BUCKET}/packages/ndvi.cwl`;
    const deployed = await transcript.send({
      ...caller,
      method: "POST",
      url: processes,
      json: { executionUnit: { href, type: "application/cwl" } },
    });
    process = deployed.json() as { id: string };
  }
  const { id } = process;
  transcript.step("What does it take?");
  await transcript.send({ ...caller, url: `${processes}/${id}` });

  transcript.step("Execute it");
  const { location } = await transcript.send({
    ...caller,
    method: "POST",
    url: `${processes}/${id}/execution`,
    headers: { ...caller.headers, prefer: "respond-async" },
    json: { inputs: { scenes: [{ href: `s3://${BUCKET}/scenes/canberra/item.json` }] }, response: "raw" },
  });
  if (location === undefined) {
    throw new CommandError("the answer has no Location; this is a fault of the processing service");
  }
  return location;
}

/** Asks until the job has ended; gives the seconds it took. */
async function waitUntilDone(
  transcript: Transcript,
  request: ShownRequest,
  stdout: NodeJS.WriteStream,
): Promise<number> {
  transcript.step("How is it doing?");
  const started = performance.now();
  let response = await transcript.send(request, { quiet: true });
  for (let shown = ""; ; response = await transcript.repeat(request)) {
    const { status, progress, message } = response.json() as { status: string; progress?: number; message?: string };
    const line = `${status}${progress === undefined ? "" : `, ${progress} %`}${message === undefined ? "" : `: ${message}`}`;
    if (line !== shown) {
      shown = line;
      stdout.write(`${line}\n`);
    }
    const seconds = (performance.now() - started) / 1000;
    if (status === "successful") {
      return seconds;
    }
    if (status === "failed" || status === "dismissed") {
      throw new CommandError(`the job ${status}: ${message ?? "without a message"}`);
    }
    if (seconds > TIMEOUT_SECONDS) {
      throw new CommandError(`the job has not ended after ${TIMEOUT_SECONDS} s; bin/swath logs ades says what it does`);
    }
    await sleep(250);
  }
}

/** The thumbnail of the first item of a catalogue in the object store, where the terminal can show it. */
async function showPicture(
  catalogue: string,
  {
    stdout,
    env,
    send,
    fetch,
  }: ProcedureContext & { send: StoreRequest; fetch: ReturnType<typeof createDeploymentFetch> },
): Promise<void> {
  if (!showsColours(stdout, env)) {
    return;
  }
  const read = async (href: string): Promise<Uint8Array> => {
    const { url, hidden } = await send("GET", href.replace(/^s3:\/\//, ""));
    return new Uint8Array(await (await fetch(url, { headers: { ...hidden?.headers } })).arrayBuffer());
  };
  interface Linked {
    readonly links?: readonly { readonly rel: string; readonly href: string }[];
    readonly assets?: Readonly<Record<string, { readonly href: string; readonly roles?: readonly string[] }>>;
  }
  let href = catalogue;
  for (let depth = 0; depth < 3; depth += 1) {
    const { links = [], assets = {} } = JSON.parse(Buffer.from(await read(href)).toString()) as Linked;
    const picture = Object.values(assets).find(({ roles }) =>
      roles?.some((role) => role === "thumbnail" || role === "overview"),
    );
    if (picture !== undefined) {
      const image = await read(new URL(picture.href, href).href);
      stdout.write(`\n${await drawPicture(image, Math.min(PICTURE_COLUMNS, stdout.columns - 4))}`);
      return;
    }
    const next = links.find(({ rel }) => rel === "item" || rel === "child");
    if (next === undefined) {
      return;
    }
    href = new URL(next.href, href).href;
  }
}
