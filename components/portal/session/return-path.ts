/**
 * Where in the portal a browser goes on after the login, from a parameter that anyone may have written: a path of the portal,
 * and never another host. Anything else means the home page.
 */
export function readReturnPath(parameter: string | undefined): string {
  // Backslashes and control characters are where browsers and parsers disagree about what the host is.
  if (parameter === undefined || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]{0,1000}$/.test(parameter)) {
    return "/";
  }
  const base = "https://portal.invalid";
  if (!URL.canParse(parameter, base)) {
    return "/";
  }
  const { origin, pathname, search } = new URL(parameter, base);
  // The server's own addresses answer with redirects: there and back for ever.
  return origin === base && !pathname.startsWith("//") && !pathname.startsWith("/auth/") ? `${pathname}${search}` : "/";
}
