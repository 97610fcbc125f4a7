import { RequestError } from "@swath/ui";
import { queryOptions } from "@tanstack/react-query";

import { requestService, callService } from "../../src/api/services.ts";

const SERVICE = "resource-catalogue";

/** What the user may do in the catalogue. */
export interface Permissions {
  readonly isOperator: boolean;
  readonly workspaces: readonly { readonly name: string; readonly role: "owner" | "writer" | "reader" }[];
  readonly collection?: {
    readonly workspace: string | null;
    readonly visibility: "public" | "workspace";
    readonly mayWrite: boolean;
  };
}

export const permissionsQuery = (collection?: string) =>
  queryOptions({
    queryKey: ["catalogue", "permissions", collection ?? null],
    queryFn: ({ signal }) =>
      requestService<Permissions>(
        SERVICE,
        `/permissions${collection === undefined ? "" : `?collection=${encodeURIComponent(collection)}`}`,
        { signal },
      ),
  });

/** A document with the ETag that a change of it must name. */
export interface Editable<T> {
  readonly document: T;
  readonly etag: string | undefined;
}

export const collectionAddress = (id: string): string => `/stac/collections/${encodeURIComponent(id)}`;
export const itemAddress = (collection: string, id: string): string =>
  `${collectionAddress(collection)}/items/${encodeURIComponent(id)}`;

export const editableQuery = <T>(address: string) =>
  queryOptions({
    queryKey: ["catalogue", "editable", address],
    queryFn: async ({ signal }): Promise<Editable<T>> => {
      const response = await callService(SERVICE, address, { signal });
      return { document: (await response.json()) as T, etag: response.headers.get("etag") ?? undefined };
    },
    // What is edited must not change under the hands of who edits it.
    staleTime: Infinity,
    gcTime: 0,
  });

/** @throws {RequestError} 400 with what is wrong, field by field; 409 where it exists; 412 where somebody else changed it meanwhile */
export function createRecord(address: string, document: unknown): Promise<unknown> {
  return requestService(SERVICE, address, { method: "POST", body: document });
}

export function replaceRecord(address: string, document: unknown, etag: string | undefined): Promise<unknown> {
  return requestService(SERVICE, address, {
    method: "PUT",
    body: document,
    ...(etag !== undefined && { headers: { "if-match": etag } }),
  });
}

export function deleteRecord(address: string): Promise<unknown> {
  return requestService(SERVICE, address, { method: "DELETE" });
}

/** What the catalogue found wrong with a document. */
export function listFaults(error: unknown): readonly { readonly path?: string; readonly rule?: string }[] {
  return error instanceof RequestError && error.status === 400
    ? ((error.problem.errors ?? []) as readonly { path?: string; rule?: string }[])
    : [];
}
