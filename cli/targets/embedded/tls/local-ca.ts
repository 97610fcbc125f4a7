import { X509Certificate, createPrivateKey, randomBytes, webcrypto } from "node:crypto";
import { join } from "node:path";

import { readIfThere, writePrivate } from "./files.ts";
import type { CertificateIssuer, IssuedCertificate } from "./issuer.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY = 86_400_000;
const CA_DAYS = 3650;
const LEAF_DAYS = 90;
/** Clocks of browsers may be behind. */
const SKEW = 3_600_000;

interface LocalCaOptions {
  /** Folder of the CA's key and certificate; made when missing. Nobody but its owner may read the key. */
  readonly folder: string;
  /** The CA can sign names of this domain and below only, whoever gets hold of its key (RFC 5280 §4.2.1.10). */
  readonly domain: string;
}

export interface LocalCa extends CertificateIssuer {
  /** The CA's certificate, for users to trust; made on the first call of `issue` or this. */
  readonly certificateFile: () => Promise<string>;
}

/** A certificate authority of this deployment's own: one a domain, kept in a folder, made when it is first needed. */
export function createLocalCa({ folder, domain }: LocalCaOptions): LocalCa {
  const certFile = join(folder, `${domain}.ca.crt`);
  const keyFile = join(folder, `${domain}.ca.key`);
  return {
    name: "local-ca",
    issuesWildcards: true,
    certificateFile: async () => {
      await loadOrMake(certFile, keyFile, domain);
      return certFile;
    },
    issue: async (hosts) => {
      for (const host of hosts) {
        if (host !== domain && !host.endsWith(`.${domain}`)) {
          throw new Error(`the local CA of ${domain} cannot sign for ${host}: it is not below that domain`);
        }
      }
      return issueLeaf(await loadOrMake(certFile, keyFile, domain), hosts);
    },
  };
}

interface CaPems {
  readonly certPem: string;
  readonly keyPem: string;
}

async function loadOrMake(certFile: string, keyFile: string, domain: string): Promise<CaPems> {
  const [certPem, keyPem] = await Promise.all([readIfThere(certFile), readIfThere(keyFile)]);
  if (certPem !== undefined && keyPem !== undefined) {
    if (!fits(certPem, keyPem, certFile)) {
      throw new Error(
        `the local CA is broken: ${keyFile} is not the key of ${certFile}; move both away to get a new CA`,
      );
    }
    // A CA that ends before its leaves would is replaced; users then have to trust the new one.
    if (Date.parse(new X509Certificate(certPem).validTo) - Date.now() > LEAF_DAYS * DAY) {
      return { certPem, keyPem };
    }
  }
  const made = await makeCa(domain);
  // The key first: a certificate without its key would be useless, a key without certificate is made anew.
  await writePrivate(keyFile, made.keyPem);
  await writePrivate(certFile, made.certPem);
  return made;
}

function fits(certPem: string, keyPem: string, certFile: string): boolean {
  try {
    return new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem));
  } catch (error) {
    throw new Error(`the local CA cannot be read: ${certFile} or its key is damaged; move both away to get a new CA`, {
      cause: error,
    });
  }
}

async function makeCa(domain: string): Promise<CaPems> {
  const { x509, nameConstraints } = await loadLibrary();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: [{ CN: [`Swath local CA ${randomBytes(3).toString("hex")}`] }, { O: [domain.slice(0, 64)] }],
    notBefore: new Date(Date.now() - SKEW),
    notAfter: new Date(Date.now() + CA_DAYS * DAY),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      nameConstraints(domain),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certPem: pemLine(certificate.toString("pem")), keyPem: await exportKey(keys.privateKey) };
}

async function issueLeaf(ca: CaPems, hosts: readonly string[]): Promise<IssuedCertificate> {
  const { x509 } = await loadLibrary();
  const issuer = new x509.X509Certificate(ca.certPem);
  const keys = await generateKeys();
  const signingKey = await webcrypto.subtle.importKey(
    "pkcs8",
    createPrivateKey(ca.keyPem).export({ type: "pkcs8", format: "der" }),
    ALGORITHM,
    false,
    ["sign"],
  );
  const notAfter = new Date(Math.floor((Date.now() + LEAF_DAYS * DAY) / 1000) * 1000);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: [{ CN: [(hosts.find((host) => !host.startsWith("*") && host.length <= 64) ?? "swath").slice(0, 64)] }],
    issuer: issuer.subjectName,
    notBefore: new Date(Date.now() - SKEW),
    notAfter,
    signingAlgorithm: ALGORITHM,
    signingKey,
    publicKey: keys.publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(hosts.map((value) => ({ type: "dns" as const, value }))),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    certPem: pemLine(certificate.toString("pem")) + ca.certPem,
    keyPem: await exportKey(keys.privateKey),
    notAfter,
  };
}

/** The certificate library and its schemas: a tenth of a second to load, so only when something is signed. */
async function loadLibrary() {
  await import("reflect-metadata");
  const [x509, schema, { AsnConvert }] = await Promise.all([
    import("@peculiar/x509"),
    import("@peculiar/asn1-x509"),
    import("@peculiar/asn1-schema"),
  ]);
  x509.cryptoProvider.set(webcrypto);
  const subtrees = (...names: { dNSName?: string; iPAddress?: string }[]) =>
    new schema.GeneralSubtrees(names.map((name) => new schema.GeneralSubtree({ base: new schema.GeneralName(name) })));
  const nameConstraints = (domain: string) => {
    const constraints = new schema.NameConstraints({
      permittedSubtrees: subtrees({ dNSName: domain }),
      // A kind of name that is not mentioned is free: without this the CA could sign for every address.
      excludedSubtrees: subtrees({ iPAddress: "0.0.0.0/0" }, { iPAddress: "::/0" }),
    });
    return new x509.Extension(schema.id_ce_nameConstraints, true, AsnConvert.serialize(constraints));
  };
  return { x509, nameConstraints };
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" })
    .export({ type: "pkcs8", format: "pem" })
    .toString();
}

/** 127 random bits, positive (RFC 5280 §4.1.2.2). */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes.toString("hex");
}

function pemLine(pem: string): string {
  return pem.endsWith("\n") ? pem : `${pem}\n`;
}
