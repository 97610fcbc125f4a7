import { join } from "node:path";

/**
 * The option of podman's and docker's `run` that loads the filter of system calls which sandboxes have as well: the engines' own
 * profiles let programs make user name spaces, with every capability in them.
 */
export const CONTAINER_FILTER: string = `--security-opt=seccomp=${join(import.meta.dirname, "../filters/containers.json")}`;
