import { escapeXml } from "../s3/escape-xml.ts";

/** Lists of the JSON form that the AWS tools use, and the elements that S3 repeats for them. */
export const LISTS: Readonly<Record<string, string>> = {
  Rules: "Rule",
  Tags: "Tag",
  Transitions: "Transition",
  NoncurrentVersionTransitions: "NoncurrentVersionTransition",
};
/** A lifecycle as S3 takes it, from its JSON: `{"Rules": [{"Status": "Enabled", …}]}`. */
export function toLifecycleXml(lifecycle: object): string {
  return `<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${render(lifecycle)}</LifecycleConfiguration>`;
}

function render(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return escapeXml(String(value));
  }
  return Object.entries(value)
    .flatMap(([name, content]) => {
      const element = (LISTS[name] ?? name).replace(/[^\w.-]/g, "_");
      return (Array.isArray(content) ? (content as unknown[]) : [content]).map(
        (each) => `<${element}>${render(each)}</${element}>`,
      );
    })
    .join("");
}
