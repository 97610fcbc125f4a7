import { RegistryError } from "../errors.ts";

const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const REPOSITORY = new RegExp(`^${COMPONENT}(?:/${COMPONENT})*$`);
const PROJECT = new RegExp(`^${COMPONENT}$`);
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const MAX_REPOSITORY_CHARACTERS = 255;
const MAX_PROJECT_CHARACTERS = 128;

/** Whether a text is the name of a repository: a project, a slash, and a name in it. */
export function isRepositoryName(text: string): boolean {
  return text.length <= MAX_REPOSITORY_CHARACTERS && text.includes("/") && REPOSITORY.test(text);
}

/** Whether a text is the name of a project. */
export function isProjectName(text: string): boolean {
  return text.length <= MAX_PROJECT_CHARACTERS && PROJECT.test(text);
}

export function isTag(text: string): boolean {
  return TAG.test(text);
}

/** The project of a repository: what is before the first slash. */
export function projectOf(repository: string): string {
  return repository.slice(0, repository.indexOf("/"));
}

/** @throws {RegistryError} NAME_INVALID */
export function checkRepositoryName(name: string): void {
  if (!isRepositoryName(name)) {
    throw new RegistryError(
      "NAME_INVALID",
      "The repository name is invalid; it must be <project>/<name> of lower-case letters, digits and single . _ - between them.",
      { detail: { name: name.slice(0, MAX_REPOSITORY_CHARACTERS) } },
    );
  }
}
