import { listServices } from "../api/services.ts";
import { type Hit, matches } from "./hit.ts";

/** The descriptions that services publish of their interfaces, by the services' names and what they do. */
export async function findDocs(text: string, services: readonly string[]): Promise<readonly Hit[]> {
  if (services.length === 0) {
    return [];
  }
  return (await listServices()).flatMap(({ id, title, description, docs, page, admin }) => {
    const url = docs ?? page;
    return url !== undefined && !admin && matches(text, id, title, description, "api docs documentation")
      ? [{ title, about: description, to: url, isElsewhere: true as const }]
      : [];
  });
}
