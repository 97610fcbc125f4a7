import { RegistryError } from "../errors.ts";
import type { Route } from "../protocol/route.ts";
import { deleteBlob, getBlob } from "./blobs.ts";
import { getBase, getCatalog, getReferrers, getTags } from "./listings.ts";
import { getManifest, pushManifest, removeManifest } from "./manifests.ts";
import type { OperationContext } from "./operation.ts";
import { appendUpload, cancelUpload, finishUpload, getUpload, startUpload } from "./uploads.ts";

type Handler<Kind extends Route["kind"]> = (
  context: OperationContext,
  route: Extract<Route, { kind: Kind }>,
) => Promise<void>;

/** Every operation of the distribution API, by what its path names and its method. */
const OPERATIONS: { readonly [Kind in Route["kind"]]: Readonly<Record<string, Handler<Kind>>> } = {
  base: { GET: getBase, HEAD: getBase },
  catalog: { GET: getCatalog },
  tags: { GET: getTags },
  manifest: { GET: getManifest, HEAD: getManifest, PUT: pushManifest, DELETE: removeManifest },
  blob: { GET: getBlob, HEAD: getBlob, DELETE: deleteBlob },
  referrers: { GET: getReferrers },
  uploads: { POST: startUpload },
  upload: { GET: getUpload, PATCH: appendUpload, PUT: finishUpload, DELETE: cancelUpload },
};

const PATHS: { readonly [Kind in Route["kind"]]: string } = {
  base: "/v2/",
  catalog: "/v2/_catalog",
  tags: "/v2/{name}/tags/list",
  manifest: "/v2/{name}/manifests/{reference}",
  blob: "/v2/{name}/blobs/{digest}",
  referrers: "/v2/{name}/referrers/{digest}",
  uploads: "/v2/{name}/blobs/uploads/",
  upload: "/v2/{name}/blobs/uploads/{id}",
};

/** Every operation as the management listener lists it. */
export function listRegistryRoutes(): readonly { readonly method: string; readonly path: string }[] {
  return Object.entries(OPERATIONS).flatMap(([kind, handlers]) =>
    Object.keys(handlers).map((method) => ({ method, path: PATHS[kind as Route["kind"]] })),
  );
}

/** @throws {RegistryError} UNSUPPORTED for a method that the path does not have */
export function findOperation(
  route: Route,
  method: string,
): { readonly name: string; readonly run: (context: OperationContext) => Promise<void> } {
  const handlers = OPERATIONS[route.kind] as Readonly<Record<string, Handler<Route["kind"]>>>;
  const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
  if (handler === undefined) {
    throw new RegistryError("UNSUPPORTED", `The method ${method} is not supported here.`, {
      headers: { allow: Object.keys(handlers).join(", ") },
    });
  }
  return { name: `${route.kind} ${method}`, run: (context) => handler(context, route as never) };
}
