const BROWSERS = [
  [/\bEdg\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, "Chrome"],
  [/\bVersion\/\S+.*Safari\//, "Safari"],
] as const;

const SYSTEMS = [
  [/\bAndroid\b/, "Android"],
  [/\b(iPhone|iPad|iOS)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\b(Macintosh|Mac OS X)\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/** `Firefox on Linux` for browsers; the first product of its name for other programs (RFC 9110 §10.1.5). */
export function describeUserAgent(text: string): string {
  const nameIn = (list: readonly (readonly [RegExp, string])[]) => list.find(([pattern]) => pattern.test(text))?.[1];
  const browser = text.startsWith("Mozilla/") ? nameIn(BROWSERS) : undefined;
  if (browser === undefined) {
    return (text.split(/[\s/]/, 1)[0] ?? "").slice(0, 40);
  }
  const system = nameIn(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
