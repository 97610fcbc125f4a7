/**
 * The names that certificates of a deployment must hold, sorted: `*.<domain>` and `<domain>`, every host that this
 * wildcard does not reach (it reaches one label), and `*.<host>` of wildcard routes. Without wildcards, every host by name.
 */
export function hostsToCover(
  domain: string,
  routes: readonly { readonly host: string; readonly wildcard?: boolean }[],
  issuesWildcards: boolean,
): string[] {
  if (!issuesWildcards) {
    return [...new Set(routes.map(({ host }) => host))].sort();
  }
  const covered = new Set([domain, `*.${domain}`]);
  for (const { host, wildcard } of routes) {
    if (!coversHost([...covered], host)) {
      covered.add(host);
    }
    if (wildcard) {
      covered.add(`*.${host}`);
    }
  }
  return [...covered].sort();
}

/** Whether a certificate for `names` is good for `host` (RFC 9525 §6.3: `*` stands for one whole label, the first). */
export function coversHost(names: readonly string[], host: string): boolean {
  return names.includes(host) || names.includes(`*${host.slice(host.indexOf("."))}`);
}
