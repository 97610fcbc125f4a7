import { derived, fixed, type VariableGroup } from "../define.ts";
import { choice, integer, secret, text, url } from "../value-types.ts";

const name = text({ pattern: /^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?\.?$/, allowed: "a domain name" });
const path = text({ pattern: /^\/[^\0]*$/, allowed: "an absolute path" });

/** How the embedded cluster gets certificates from an ACME server (RFC 8555). */
export const certificateVariables = {
  ACME_DIRECTORY_URL: {
    type: url(["https"]),
    fallback: fixed(undefined),
    meaning:
      "Directory of another ACME server than Let's Encrypt, for the embedded cluster. TLS_CLUSTER_ISSUER is then the name that it is listed by.",
  },
  ACME_EMAIL: {
    type: text({ pattern: /^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$/, allowed: "an e-mail address" }),
    fallback: fixed(undefined),
    meaning: "Contact of the account at the ACME server.",
  },
  ACME_CA_FILE: {
    type: path,
    fallback: fixed(undefined),
    meaning:
      "PEM file of the certificate authority that the ACME server's own certificate leads to, where it is not a public one.",
  },
  ACME_EAB_KID: {
    type: text({ pattern: /^[\x21-\x7e]{1,500}$/, allowed: "a key identifier" }),
    fallback: fixed(undefined),
    meaning:
      "Identifier of the external account that the ACME account is bound to, as the certificate authority gave it.",
  },
  ACME_EAB_HMAC_KEY: {
    type: secret(),
    fallback: fixed(undefined),
    meaning: "Key of that external account, in base64url.",
  },
  ACME_CHALLENGE: {
    type: choice(["http-01", "dns-01"]),
    fallback: derived("dns-01 where ACME_DNS_SERVER or ACME_DNS_HOOK is set, http-01 without", ({ get }) =>
      get("ACME_DNS_SERVER") !== undefined || get("ACME_DNS_HOOK") !== undefined ? "dns-01" : "http-01",
    ),
    meaning:
      "How the ACME server sees that the hosts are yours: http-01 through port 80 of the ingress, one certificate a host; dns-01 by TXT records, one certificate with wildcards for all hosts.",
  },
  ACME_DNS_SERVER: {
    type: text({
      pattern: /^([A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?$/,
      allowed: "a name or address, with a port where it is not 53: ns1.example.org, 192.0.2.1:5353, [2001:db8::1]:53",
    }),
    fallback: fixed(undefined),
    meaning: "Primary DNS server of the domain, which takes dynamic updates (RFC 2136) for dns-01.",
  },
  ACME_DNS_ZONE: {
    type: name,
    fallback: fixed(undefined),
    meaning: "Zone that the updates are for. Found by asking ACME_DNS_SERVER when left out.",
  },
  ACME_DNS_KEY_NAME: {
    type: name,
    fallback: fixed(undefined),
    meaning: "Name of the TSIG key that signs the updates.",
  },
  ACME_DNS_KEY_ALGORITHM: {
    type: choice(["hmac-sha256", "hmac-sha384", "hmac-sha512"]),
    fallback: fixed("hmac-sha256"),
    meaning: "Algorithm of that key.",
  },
  ACME_DNS_KEY_SECRET: {
    type: secret(),
    fallback: fixed(undefined),
    meaning: "That key, in base64.",
  },
  ACME_DNS_PROPAGATION: {
    type: integer(0, 3600),
    fallback: fixed(30),
    meaning: "Seconds between a changed record and the request to look at it, for the secondary DNS servers to follow.",
  },
  ACME_DNS_HOOK: {
    type: path,
    fallback: fixed(undefined),
    meaning:
      "Program that changes the DNS instead of ACME_DNS_SERVER. It is called as `PROGRAM present NAME VALUE` and `PROGRAM cleanup NAME VALUE` and ends with 0 when the TXT record is there, or gone.",
  },
} satisfies VariableGroup;
