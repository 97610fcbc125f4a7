export { type Descriptor, type ManifestDocument, MANIFEST_TYPES, isIndexType } from "./manifest.ts";
export { pushDockerArchive, saveDockerArchive } from "./docker-archive.ts";
export { findPackageLayer } from "./package-layer.ts";
export { type Reference, locate, parseReference } from "./reference.ts";
export { type ReadManifest, type RegistryClient, RegistryRefusal, createRegistryClient } from "./registry-client.ts";
export { pushLayout, pushPackage } from "./push-layout.ts";
export { type RemoteOptions, createRemote } from "./remote.ts";
export { type RegistryWriter, createRegistryWriter } from "./registry-writer.ts";
export { saveImage } from "./save-image.ts";
