/**
 * Whether the page that sent a request belongs to the deployment: its own domain and hosts below it. A request without
 * Origin comes from no page, or is one that pages of other sites cannot make with cookies (SameSite=Lax).
 */
export function isOwnOrigin(origin: string | undefined, domain: string): boolean {
  if (origin === undefined) {
    return true;
  }
  if (!URL.canParse(origin)) {
    return false;
  }
  const { hostname, protocol } = new URL(origin);
  const name = hostname.replace(/\.$/, "");
  return /^https?:$/.test(protocol) && (name === domain || name.endsWith(`.${domain}`));
}
