/** A reference of an image or artifact: `host[:port]/repository[:tag][@digest]`. */
export interface Reference {
  readonly host: string;
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const MAX_CHARACTERS = 512;
const PART = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const REFERENCE = new RegExp(
  `^((?:[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+|localhost)(?::\\d{1,5})?|[A-Za-z0-9-]+:\\d{1,5})/(${PART}(?:/${PART})*)` +
    "(?::([A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128}))?$",
);

/** Where the API of a reference's registry is, and what the repository is called there: Docker Hub has habits of its own. */
export function locate({ host, repository }: Reference): { readonly host: string; readonly repository: string } {
  return ["docker.io", "index.docker.io"].includes(host)
    ? { host: "registry-1.docker.io", repository: repository.includes("/") ? repository : `library/${repository}` }
    : { host, repository };
}

/** Undefined for a text that names no registry: `alpine:3` is anybody's. `oci://` and `docker://` may stand before it. */
export function parseReference(text: string): Reference | undefined {
  const match = text.length > MAX_CHARACTERS ? null : REFERENCE.exec(text.replace(/^(?:oci|docker):\/\//, ""));
  const [, host, repository, tag, digest] = match ?? [];
  return host === undefined || repository === undefined
    ? undefined
    : { host: host.toLowerCase(), repository, tag, digest };
}
