/** Path of a realm on the identity service, as Keycloak has it. */
export function realmPath(realm: string): string {
  return `/realms/${encodeURIComponent(realm)}`;
}

/** Path of a realm's administration. */
export function adminRealmPath(realm: string): string {
  return `/admin${realmPath(realm)}`;
}

/** Address of the identity service whose realm is the issuer; the issuer itself where it is laid out in another way. */
export function serverOfIssuer(issuer: string, realm: string): string {
  const path = realmPath(realm);
  return issuer.endsWith(path) ? issuer.slice(0, -path.length) : issuer;
}
