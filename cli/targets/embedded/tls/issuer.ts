/** A certificate chain and its private key, as PEM. */
export interface IssuedCertificate {
  /** The leaf first, then what leads to the root. */
  readonly certPem: string;
  /** PKCS #8. */
  readonly keyPem: string;
  readonly notAfter: Date;
}

/** Whoever signs certificates: the local CA, or an ACME server. */
export interface CertificateIssuer {
  /** Names the issuer in messages: `local-ca`, `letsencrypt-production`. */
  readonly name: string;
  /** Whether names like `*.example.org` can be had (ACME's HTTP-01 cannot prove them). */
  readonly issuesWildcards: boolean;
  /**
   * Issues one certificate for all hosts (1 to 100 names).
   * @throws {Error} saying which host and why
   */
  readonly issue: (hosts: readonly string[]) => Promise<IssuedCertificate>;
}
