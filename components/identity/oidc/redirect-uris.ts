/** What redirect URIs are compared with. */
export interface RedirectRules {
  readonly rootUrl: string;
  readonly redirectUris: readonly string[];
  /** Origin of the identity service: relative URIs are below it unless the client has a root URL. */
  readonly publicUrl: string;
  /** Domain of the deployment. */
  readonly domain: string;
}

/**
 * Whether an answer may be sent to this address. Registered addresses are compared as texts; a `*` at the end of one stands for
 * any continuation of its path. A `*` alone does not mean anywhere, which would give accounts away, but the hosts of this
 * deployment and the loopback interface, which is what clients of a deployment need (RFC 9700 §4.1).
 */
export function isRedirectAllowed(uri: string, { rootUrl, redirectUris, publicUrl, domain }: RedirectRules): boolean {
  const target = parse(uri);
  if (target === undefined) {
    return false;
  }
  return redirectUris.some((allowed) => {
    if (allowed === "*") {
      return isOfDeployment(target, domain, publicUrl);
    }
    const absolute = allowed.startsWith("/") ? `${(rootUrl || publicUrl).replace(/\/+$/, "")}${allowed}` : allowed;
    return absolute.endsWith("*")
      ? isBelow(uri, target, absolute.slice(0, -1))
      : uri === absolute || isLoopbackTwin(target, absolute);
  });
}

function parse(uri: string): URL | undefined {
  // Backslashes, controls and spaces are read differently by browsers than written; nobody needs them.
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (!URL.canParse(uri) || /[\\\u0000-\u0020\u007f]/.test(uri)) {
    return undefined;
  }
  const url = new URL(uri);
  const isScript = /^(javascript|data|vbscript|file|blob|about):$/i.test(url.protocol);
  return isScript || url.hash !== "" || url.username !== "" || url.password !== "" ? undefined : url;
}

/** The prefix must reach into the path, so that no other host can be meant, and dots must not climb out of it. */
function isBelow(uri: string, target: URL, prefix: string): boolean {
  if (!URL.canParse(prefix)) {
    return false;
  }
  const base = new URL(prefix);
  // A star elsewhere than in the path would be lost with the part it stands in.
  if (!/^https?:$/.test(base.protocol) || base.search !== "" || base.hash !== "" || target.origin !== base.origin) {
    return false;
  }
  // `https://host*` must not mean `https://host.evil`: the origin was compared whole, the rest is a path.
  return target.pathname.startsWith(base.pathname) && !/%2e|%2f|%5c/i.test(new URL(uri).pathname);
}

/** Programs on the user's own machine listen on any free port (RFC 8252 §7.3). */
function isLoopbackTwin(target: URL, allowed: string): boolean {
  if (!URL.canParse(allowed) || target.protocol !== "http:") {
    return false;
  }
  const other = new URL(allowed);
  return (
    /^(127\.0\.0\.1|\[::1\])$/.test(target.hostname) &&
    other.protocol === "http:" &&
    other.hostname === target.hostname &&
    other.pathname === target.pathname &&
    other.search === target.search
  );
}

function isOfDeployment(target: URL, domain: string, publicUrl: string): boolean {
  if (target.protocol === "http:" && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(target.hostname)) {
    return true;
  }
  return (
    target.protocol === new URL(publicUrl).protocol &&
    target.port === new URL(publicUrl).port &&
    target.hostname.endsWith(`.${domain.toLowerCase()}`)
  );
}
