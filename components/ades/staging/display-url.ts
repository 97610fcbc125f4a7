const SECRET_NAME = /sig|token|key|credential|secret|passw|auth|code/i;

/** An address for messages and logs: without user information, and without the values of parameters that may be secrets. */
export function displayUrl(href: string): string {
  if (/^data:/i.test(href)) {
    return `${href.slice(0, 40).split(",")[0]},…`;
  }
  if (!URL.canParse(href)) {
    return href.slice(0, 200);
  }
  const url = new URL(href);
  url.username = "";
  url.password = "";
  url.hash = "";
  for (const name of url.searchParams.keys().toArray()) {
    if (SECRET_NAME.test(name)) {
      url.searchParams.set(name, "…");
    }
  }
  return decodeEllipsis(url.href).slice(0, 500);
}

const decodeEllipsis = (text: string): string => text.replaceAll("%E2%80%A6", "…");
