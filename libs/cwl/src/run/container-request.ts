import { createHash } from "node:crypto";
import { CwlError } from "../errors.ts";
import type { ContainerRequest } from "../executors/executor.ts";
import type { Requirements } from "./requirements.ts";

/** The container that DockerRequirement asks for. */
export function containerRequest(requirements: Requirements): ContainerRequest | undefined {
  const requirement = requirements.find("DockerRequirement");
  if (requirement === undefined) {
    return undefined;
  }
  const text = (name: string): string | undefined => {
    const value = requirement.fields[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    image: text("dockerImageId") ?? text("dockerPull") ?? "",
    required: requirement.required,
    pull: text("dockerPull"),
    load: text("dockerLoad"),
    import: text("dockerImport"),
    dockerfile: text("dockerFile"),
    shmSize: shmSize(requirements),
    gpus: 0,
  };
}

function shmSize(requirements: Requirements): string | undefined {
  const value = requirements.find("http://commonwl.org/cwltool#ShmSize")?.fields["shmSize"];
  if (value !== undefined && (typeof value !== "string" || !/^\d+[bkmg]?$/i.test(value))) {
    throw new CwlError("invalid-document", 'cwltool:ShmSize: shmSize must be a size like "100m"');
  }
  return value;
}

/** What an image is called in events and messages, also where it has no name of its own. */
export function imageLabel({ image, dockerfile, load, import: archive }: ContainerRequest): string {
  return dockerfile === undefined
    ? image || (load ?? archive ?? "")
    : `dockerFile@sha256:${createHash("sha256").update(dockerfile).digest("hex").slice(0, 12)}`;
}
