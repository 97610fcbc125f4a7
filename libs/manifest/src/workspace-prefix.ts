import type { Variant } from "./component.ts";

const PREFIXES: Readonly<Record<Variant, string>> = { A: "ws", B: "guide-user" };

/** What names of workspaces begin with. Scripts and rules of the earlier release line name `guide-user-<user>`. */
export function workspacePrefix({ variant }: { readonly variant: Variant }): string {
  return PREFIXES[variant];
}

/** Whether a bucket is named as those of workspaces are, in either variant: a store keeps its workspaces when the variant changes. */
export function isWorkspaceName(bucket: string): boolean {
  return Object.values(PREFIXES).some((prefix) => bucket.startsWith(`${prefix}-`));
}
