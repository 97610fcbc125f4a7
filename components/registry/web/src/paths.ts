/** Addresses of the console's own pages. */
export function toProject(project: string, below = ""): string {
  return `/projects/${encodeURIComponent(project)}${below}`;
}

/** `name` with the project. */
export function splitName(name: string): { readonly project: string; readonly repository: string } {
  const slash = name.indexOf("/");
  return { project: name.slice(0, slash), repository: name.slice(slash + 1) };
}

export function toRepository(project: string, repository: string): string {
  return toProject(project, `/repository?${new URLSearchParams({ name: repository })}`);
}

export function toArtifact(project: string, repository: string, digest: string): string {
  return toProject(project, `/artifact?${new URLSearchParams({ name: repository, digest })}`);
}

/** `sha256:0123456789ab`, enough for people. */
export function shortDigest(digest: string): string {
  const [algorithm = "", hex = ""] = digest.split(":");
  return `${algorithm}:${hex.slice(0, 12)}`;
}
