/** Last part of an address's path, its escapes decoded; a name that holds something else after a percent sign stays as it is. */
export function nameInAddress(pathname: string): string {
  const name = pathname.slice(pathname.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
