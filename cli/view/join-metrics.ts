/** Prometheus text of several pods as one: each family once, its samples with the label `pod`. */
export function joinMetrics(pods: ReadonlyMap<string, string>): string {
  const families = new Map<string, { readonly head: Set<string>; readonly samples: string[] }>();
  for (const [pod, text] of pods) {
    let family = { head: new Set<string>(), samples: new Array<string>() };
    for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
      const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name !== undefined) {
        family = families.get(name) ?? { head: new Set(), samples: [] };
        families.set(name, family);
        family.head.add(line);
      } else if (!line.startsWith("#")) {
        family.samples.push(addLabel(line, pod));
      }
    }
  }
  return [...families.values()]
    .flatMap(({ head, samples }) => [...head, ...samples])
    .map((line) => `${line}\n`)
    .join("");
}

function addLabel(sample: string, pod: string): string {
  const [, name = "", labels, rest = ""] = /^([^\s{]+)(?:\{(.*)\})?( .*)$/.exec(sample) ?? [];
  return `${name}{pod="${pod}"${labels === undefined || labels === "" ? "" : `,${labels}`}}${rest}`;
}
