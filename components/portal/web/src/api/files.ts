import { isWorkspaceName } from "@swath/manifest/workspace-prefix";

import { RequestError, requestJson, toRequestError } from "@swath/ui";

import type { FolderPage } from "../../../files/folder-page.ts";

export type { FolderPage };

const base = (workspace: string) => `/api/workspaces/${encodeURIComponent(workspace)}`;

/**
 * Address of a file of a workspace on the portal's own host. Ranges work, so it is good for images, downloads and map sources;
 * relative links of a STAC document that is read from there lead to its neighbours.
 */
export function fileUrl(workspace: string, key: string, { download = false } = {}): string {
  const path = key.split("/").map(encodeURIComponent).join("/");
  return `${base(workspace)}/files/${path}${download ? "?download" : ""}`;
}

/**
 * The portal's address of what a result or STAC document refers to: `s3://ws-eric/a.tif` or an address of the object storage.
 * `undefined` for anything that is in no workspace.
 */
export function toFileUrl(href: string): string | undefined {
  const s3 = /^s3:\/\/([a-z0-9.-]+)\/(.+)$/.exec(href);
  if (s3?.[1] !== undefined && isWorkspaceName(s3[1])) {
    return fileUrl(s3[1], s3[2] ?? "");
  }
  if (!URL.canParse(href)) {
    return undefined;
  }
  const { hostname, pathname, protocol } = new URL(href);
  if (!/^https?:$/.test(protocol)) {
    return undefined;
  }
  const [label = "", host = ""] = hostname.split(".");
  const [, first = "", ...rest] = pathname.split("/");
  const [bucket, key] =
    label === "objstore" ? [first, rest.join("/")] : [host === "objstore" ? label : "", pathname.slice(1)];
  return isWorkspaceName(bucket) && key !== "" ? fileUrl(bucket, decodeURIComponent(key)) : undefined;
}

export function listFolder(workspace: string, prefix: string, after?: string): Promise<FolderPage> {
  const query = new URLSearchParams({ prefix, ...(after !== undefined && { after }) });
  return requestJson(`${base(workspace)}/folder?${query}`);
}

export function deleteFile(workspace: string, key: string): Promise<void> {
  return requestJson(fileUrl(workspace, key), { method: "DELETE" });
}

/** Deletes a folder with everything in it; gives how many files there were. */
export async function deleteFolder(workspace: string, prefix: string): Promise<number> {
  const query = new URLSearchParams({ prefix });
  return (await requestJson<{ deleted: number }>(`${base(workspace)}/folder?${query}`, { method: "DELETE" })).deleted;
}

/** Files whose names contain a text, below a folder. */
export function searchFiles(workspace: string, prefix: string, text: string, after?: string): Promise<FolderPage> {
  const query = new URLSearchParams({ prefix, text, ...(after !== undefined && { after }) });
  return requestJson(`${base(workspace)}/search?${query}`);
}

/** Renames or moves a file, or a folder (with its slash) with everything in it. */
export function moveFile(workspace: string, from: string, to: string): Promise<void> {
  return requestJson(`${base(workspace)}/move`, { method: "POST", body: { from, to } });
}

/** An empty object stands for a folder that nothing is in yet. */
export function createFolder(workspace: string, prefix: string): Promise<void> {
  return requestJson(fileUrl(workspace, prefix), {
    method: "PUT",
    body: new Blob([]),
    headers: { "if-none-match": "*" },
  });
}

/** Address of files and folders as one archive. */
export function zipUrl(workspace: string, keys: readonly string[]): string {
  return `${base(workspace)}/zip?${new URLSearchParams(keys.map((key) => ["key", key]))}`;
}

interface UploadOptions {
  /** Share that has been sent, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  readonly signal?: AbortSignal;
  /** Replaces a file of that name; otherwise that is an error (412). */
  readonly replace?: boolean;
}

/** Sends a file. @throws {RequestError} */
export function uploadFile(workspace: string, key: string, file: Blob, options: UploadOptions = {}): Promise<void> {
  const { onProgress, signal, replace = false } = options;
  // fetch does not tell how far it is.
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("PUT", fileUrl(workspace, key));
    sending.setRequestHeader("content-type", file.type || "application/octet-stream");
    if (!replace) {
      sending.setRequestHeader("if-none-match", "*");
    }
    sending.upload.addEventListener("progress", ({ loaded, total }) => onProgress?.(total === 0 ? 1 : loaded / total));
    sending.addEventListener("load", () => {
      if (sending.status < 300) {
        resolve();
        return;
      }
      const response = new Response(sending.responseText, {
        status: sending.status,
        headers: { "content-type": sending.getResponseHeader("content-type") ?? "" },
      });
      void toRequestError(response).then(reject);
    });
    sending.addEventListener("error", () =>
      reject(new RequestError(0, { title: "No connection", detail: "The connection broke off; try again." })),
    );
    sending.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")));
    signal?.addEventListener("abort", () => sending.abort());
    sending.send(file);
  });
}
