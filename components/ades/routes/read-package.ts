import type { FastifyRequest } from "fastify";

import { OgcError, invalidParameter, unsupportedMediaType } from "../errors.ts";
import { checkNeeds, findObstacle } from "../execution/check-execution.ts";
import { runsContainers } from "../execution/executors.ts";
import type { AdesSettings } from "../execution/storage.ts";
import { isDockerUnit, toToolOfImage } from "../packages/docker-unit.ts";
import { findReadableStorage } from "../execution/result-access.ts";
import { allowedPrivate, internalServices } from "../execution/storage.ts";
import { type GivenDescription, mergeDescription, readDescription } from "../packages/describe.ts";
import { openPlatformRegistry } from "../execution/platform-images/platform-registry.ts";
import { resolveImages } from "../execution/platform-images/resolve-images.ts";
import { checkWithReferences } from "../packages/check-references.ts";
import { fetchArtifact } from "../packages/fetch-artifact.ts";
import { fetchPackage } from "../packages/fetch-package.ts";
import { requireFacts } from "../packages/load-package.ts";
import { CWL_TYPES, OGC_YAML, PACKAGE_TYPES } from "../packages/media-types.ts";
import type { S3Access } from "../staging/types.ts";
import type { NewProcess } from "../store/processes.ts";
import { findUnstorable } from "../store/storable.ts";
import type { ApiContext } from "./context.ts";
import { findEarlierUnit } from "./earlier-bodies.ts";

interface PackageText {
  readonly text: string;
  /** Where it came from. */
  readonly reference: string;
  /** What references in it are relative to, where it was read by its address. */
  readonly address?: string;
  /** Which workflow is meant, where it has several. */
  readonly workflow: string | undefined;
  /** What the request itself says of the process. */
  readonly provided?: GivenDescription;
}

/**
 * The process that a request deploys, and why it cannot be executed here now, where it cannot.
 * @throws {OgcError} 400, 415
 */
export async function readPackage(
  context: ApiContext,
  owner: string,
  request: FastifyRequest,
): Promise<{ readonly process: NewProcess; readonly obstacle: string | undefined }> {
  const sent = await readPackageText(context, owner, request);
  const { reference, provided } = sent;
  const { checked, stored: text } = await checkPackageText(context, owner, sent, false);
  const facts = requireFacts(checked);
  checkNeeds(context.settings, facts);
  const { description: derived } = facts;
  const description = mergeDescription(derived, provided);
  const unstorable = findUnstorable({ ...description, text }, "package");
  if (unstorable !== undefined) {
    throw invalidParameter(`${unstorable}; leave it out.`);
  }
  const images = await resolveImages(openPlatformRegistry(context.settings), owner, facts.images);
  const process: NewProcess = {
    owner,
    images,
    description,
    package: text,
    reference,
    ...(description.id !== derived.id && { entry: derived.id }),
  };
  return { process, obstacle: findObstacle(context.settings, facts)?.message };
}

/** What is wrong with a package, and what of it is stored: with the documents that it refers to. @throws {OgcError} 400 */
export async function checkPackageText(
  { packages, settings }: ApiContext,
  owner: string,
  { text, address, workflow }: PackageText,
  advice: boolean,
): ReturnType<typeof checkWithReferences> {
  const places = { dataFolder: settings.DATA_DIR, allowPrivate: allowedPrivate(settings) };
  return await checkWithReferences(packages, owner, { text, address, workflow, advice }, places);
}

/** The package of a request, unchecked: CWL itself, or where it is (OGC 20-044 requirements /req/ogcapppkg, /req/cwl). */
export async function readPackageText(
  context: ApiContext,
  owner: string,
  request: FastifyRequest,
): Promise<PackageText> {
  const type = requirePackageType(request);
  const { w: workflow } = request.query as { w?: string };
  if (CWL_TYPES.includes(type)) {
    const text = typeof request.body === "string" ? request.body : JSON.stringify(request.body);
    return { text, reference: "inline", workflow };
  }
  const body = (
    type === OGC_YAML
      ? await context.packages.read("convert", owner, { text: String(request.body) }).catch((error: unknown) => {
          throw error instanceof OgcError
            ? error
            : invalidParameter(`The body is no YAML: ${(error as Error).message}`);
        })
      : request.body
  ) as Readonly<Record<string, unknown>> | null;
  // CWL is JSON too, and many clients call it so.
  if (typeof body === "object" && body !== null && "cwlVersion" in body) {
    return { text: JSON.stringify(body, null, 2), reference: "inline", workflow };
  }
  return readUnit(context, owner, body, workflow);
}

/** The media type of a package. @throws {OgcError} 415 */
export function requirePackageType(request: FastifyRequest): string {
  const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!PACKAGE_TYPES.includes(type)) {
    throw unsupportedMediaType(type, PACKAGE_TYPES);
  }
  return type;
}

const EXAMPLE = '{"executionUnit": {"href": "https://…/package.cwl#workflow", "type": "application/cwl"}}';

async function readUnit(
  context: ApiContext,
  owner: string,
  body: Readonly<Record<string, unknown>> | null,
  w: string | undefined,
): Promise<PackageText> {
  const { executionUnit = findEarlierUnit(body), processDescription } = body ?? {};
  const units = [executionUnit ?? []].flat() as readonly unknown[];
  const outer = isObject(processDescription) ? processDescription : {};
  const unit = chooseUnit(context.settings, units, isObject(outer["process"]) ? outer["process"] : outer);
  const provided = readDescription(processDescription);
  const fields = { ...(provided && { provided }) };
  if (unit.value !== undefined) {
    const text = typeof unit.value === "string" ? unit.value : JSON.stringify(unit.value, null, 2);
    return { text, reference: "inline", workflow: w, ...fields };
  }
  if (typeof unit.href !== "string" || unit.href === "") {
    throw invalidParameter("executionUnit needs href, the address of the package, or value, the package itself.");
  }
  const [href = "", fragment] = unit.href.startsWith("data:") ? [unit.href] : unit.href.split("#", 2);
  const { settings } = context;
  const registry = openPlatformRegistry(settings);
  const artifact = registry?.find(href);
  if (registry !== undefined && artifact !== undefined) {
    const client = await registry.clientOf(owner);
    const { text, digest } = await fetchArtifact(client, artifact);
    const reference = `oci://${artifact.host}/${artifact.repository}${artifact.tag ? `:${artifact.tag}` : ""}@${digest}`;
    return { text, reference, workflow: w ?? fragment, ...fields };
  }
  const s3 = /^s3:/i.test(href) ? await findBuckets(context, owner) : [];
  const text = await fetchPackage(href, settings.DATA_DIR, {
    allowPrivate: allowedPrivate(settings),
    internal: internalServices(settings, owner),
    s3,
  });
  const isInline = unit.href.startsWith("data:");
  const reference = isInline ? "inline" : unit.href;
  return { text, reference, workflow: w ?? fragment, ...fields, ...(!isInline && { address: href }) };
}

/** The buckets that jobs of the owner read from hold packages, too. @throws {OgcError} 400 saying what is missing */
async function findBuckets({ db, settings }: ApiContext, owner: string): Promise<readonly S3Access[]> {
  try {
    return (await findReadableStorage(db, settings, owner)).access;
  } catch (error) {
    throw invalidParameter(`The package is in an object store, but ${(error as Error).message}.`);
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Several units are several ways to execute the process (OGC 20-044 /req/ogcapppkg/schema): the first one in CWL is taken, else the
 * first container image.
 * @throws {OgcError} 400 where there is none that can be executed
 */
function chooseUnit(
  settings: AdesSettings,
  units: readonly unknown[],
  description: Readonly<Record<string, unknown>>,
): ReturnType<typeof toUnit> {
  const opened = units.map((unit) => (isObject(unit) && isObject(unit["unit"]) ? unit["unit"] : unit));
  const images = opened.filter((unit) => isObject(unit) && isDockerUnit(unit));
  const others = opened.filter((unit) => !images.includes(unit));
  let refused: Error | undefined;
  for (const unit of others) {
    try {
      return toUnit(unit);
    } catch (error) {
      refused ??= error as Error;
    }
  }
  const [image] = images;
  if (!isObject(image)) {
    throw refused ?? invalidParameter(`executionUnit is missing: ${EXAMPLE}`);
  }
  if (!runsContainers(settings)) {
    throw new OgcError(
      400,
      "NoContainerEngine",
      "The execution unit is a container image, and no container engine is used here. The operator can install podman or docker.",
    );
  }
  return { value: toToolOfImage(image, description) };
}

/** An execution unit: a link, a qualified value, or CWL as it is; also one level down, as `{"unit": …}`. */
function toUnit(provided: unknown): { readonly href?: unknown; readonly value?: unknown } {
  if (typeof provided === "string" && provided !== "") {
    return { value: provided };
  }
  if (typeof provided !== "object" || provided === null) {
    throw invalidParameter(`executionUnit is missing: ${EXAMPLE}`);
  }
  const unit = provided as Readonly<Record<string, unknown>>;
  if ("cwlVersion" in unit) {
    return { value: unit };
  }
  if ("unit" in unit) {
    return toUnit(unit["unit"]);
  }
  const type = unit["mediaType"] ?? unit["type"];
  if (typeof type === "string" && !CWL_TYPES.includes(type.split(";", 1)[0]?.trim().toLowerCase() ?? "")) {
    throw new OgcError(
      400,
      "UnsupportedExecutionUnit",
      `An execution unit of type ${JSON.stringify(type)} cannot be deployed; allowed: ${CWL_TYPES.join(", ")}. ` +
        "A container image has the type docker or oci and a member image.",
    );
  }
  return unit;
}
