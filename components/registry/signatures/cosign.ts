import { type KeyObject, createPublicKey, verify } from "node:crypto";

const SIGNATURE = "dev.cosignproject.cosign/signature";
const PAYLOAD_TYPE = "application/vnd.dev.cosign.simplesigning.v1+json";
/** Artifact type of signatures that name their subject. */
export const SIGNATURE_TYPE = "application/vnd.dev.cosign.artifact.sig.v1+json";

interface Layer {
  readonly mediaType: string;
  readonly digest: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A signature as a layer of cosign's manifests carries it: the payload is the content of the blob. */
export interface CosignSignature {
  readonly payload: string;
  readonly signature: Buffer;
}

/** Signatures of a manifest of cosign. */
export function findSignatures(layers: readonly Layer[]): readonly CosignSignature[] {
  return layers.flatMap(({ mediaType, digest, annotations }) => {
    const signature = annotations?.[SIGNATURE];
    return mediaType === PAYLOAD_TYPE && signature !== undefined
      ? [{ payload: digest, signature: Buffer.from(signature, "base64") }]
      : [];
  });
}

/** The tag under which cosign keeps signatures of a digest where registries know no subjects. */
export const tagOfSignatures = (digest: string): string => `${digest.replace(":", "-")}.sig`;

/** Whether one of the keys has signed that this is the image of the digest. */
export function isSigned(payload: Buffer, signature: Buffer, digest: string, keys: readonly KeyObject[]): boolean {
  return readDigest(payload) === digest && keys.some((key) => isValid(payload, signature, key));
}

function isValid(payload: Buffer, signature: Buffer, key: KeyObject): boolean {
  try {
    return verify(key.asymmetricKeyType === "ed25519" ? null : "sha256", payload, key, signature);
  } catch {
    // A signature that does not fit the kind of the key.
    return false;
  }
}

/** What a payload (simple signing) speaks of. */
function readDigest(payload: Buffer): string | undefined {
  try {
    const { critical } = JSON.parse(payload.toString("utf8")) as {
      critical?: { type?: string; image?: { "docker-manifest-digest"?: string } };
    };
    return critical?.type === "cosign container image signature"
      ? critical.image?.["docker-manifest-digest"]
      : undefined;
  } catch {
    return undefined;
  }
}

const TYPES = ["ec", "rsa", "ed25519"];

/** Undefined for a text that is not one public key in PEM. */
export function parseKey(text: string): KeyObject | undefined {
  try {
    const isOne = /^-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/.test(text.trim());
    const key = isOne ? createPublicKey(text) : undefined;
    return key !== undefined && TYPES.includes(key.asymmetricKeyType ?? "") ? key : undefined;
  } catch {
    return undefined;
  }
}
