const NOSNIFF = /(?:^|\n)x-content-type-options:/i;
const HSTS = /(?:^|\n)strict-transport-security:/i;

/** Fields that every answer carries, of every host, where the service behind did not send them (RFC 6797; Fetch, nosniff). */
export function missingSecurityFields(lines: string, tls: boolean): string {
  const nosniff = NOSNIFF.test(lines) ? "" : "X-Content-Type-Options: nosniff\r\n";
  return tls && !HSTS.test(lines) ? `${nosniff}Strict-Transport-Security: ${HSTS_VALUE}\r\n` : nosniff;
}

/** A year. */
export const HSTS_VALUE = "max-age=31536000";
