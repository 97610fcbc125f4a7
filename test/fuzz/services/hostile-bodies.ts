import { hostileText, pick } from "./hostile-values.ts";
import { type Words, chooseWords } from "./words.ts";

type Random = (below: number) => number;

export function hostileXml(random: Random): string {
  return pick(random, XML)();
}

const XML: readonly (() => string)[] = [
  () => "<a>".repeat(100_000),
  () => `<a>${"<b/>".repeat(150_000)}</a>`,
  () => '<!DOCTYPE a [<!ENTITY b "&b;&b;">]><a>&b;</a>',
  () => '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
  () => `<a ${Array.from({ length: 5000 }, (_, i) => `b${i}=""`).join(" ")}/>`,
  () => `<a ${Array.from({ length: 5000 }, (_, i) => `xmlns:b${i}="c"`).join(" ")}/>`,
  () => "<a>&foo;</a>",
  () => '<a b="1" b="2"/>',
  () => "<a><b></a></b>",
  () => "<a>&#0;&#xD800;</a>",
  () => "<a><__proto__>1</__proto__><constructor>2</constructor></a>",
  () => `<a>${"x".repeat(1 << 20)}</a>`,
  () => `<a>${"<b c='d'>e</b>".repeat(190_000)}</a>`,
  () => `<a>${"x&amp;".repeat(800_000)}</a>`,
  () => `<${"a".repeat(1 << 20)}/>`,
  () => `<a>${"<!---->".repeat(400_000)}</a>`,
  () => `<a>${"<![CDATA[]]>".repeat(300_000)}</a>`,
  () => "",
];

/** A document with some of its texts replaced, some of its elements repeated or left out. */
export function hostileDocument(random: Random, document: string): string {
  switch (random(6)) {
    case 0:
      return document;
    case 1:
      return document.replaceAll(/>[^<>]+</g, (text) =>
        random(2) === 0 ? text : `>${toXmlText(hostileText(random))}<`,
      );
    case 2: {
      const [whole = "", name = ""] = /<(\w+)>[^<>]*<\/\1>/.exec(document) ?? [];
      return name === "" ? document : document.replace(whole, whole.repeat(pick(random, [0, 2, 2000, 50_000])));
    }
    case 3:
      return document.slice(0, random(document.length));
    case 4:
      return document.replaceAll(/"[^"]*"/g, (text) => (random(3) > 0 ? text : JSON.stringify(hostileText(random))));
    default:
      return document.replaceAll(/<\w+>[^<>]*<\/\w+>/g, (element) => (random(2) === 0 ? element : ""));
  }
}

const toXmlText = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").toWellFormed();

export function hostileForm(random: Random, words: Words): string {
  switch (random(6)) {
    case 0:
      return pick(random, FORMS)();
    default:
      return new URLSearchParams(Object.fromEntries(chooseWords(random, words, 2))).toString();
  }
}

const FORMS: readonly (() => string)[] = [
  () => "a&".repeat(500_000),
  () => "a=b&".repeat(500_000),
  () => "%".repeat(100_000),
  () => `a${"[b]".repeat(100_000)}=c`,
  () => "__proto__[a]=b&constructor=c&toString=d",
  () => `a=${"%41".repeat(300_000)}`,
  () => "a=%ff%fe&b=%00&c=%ED%A0%80",
  () => "+".repeat(1 << 20),
];

/** The boundary of multipart bodies. */
const BOUNDARY = "swath-fuzz";
export const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export function hostileMultipart(random: Random, words: Words): string {
  const part = (name: string, value: string) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  switch (random(5)) {
    case 0:
      return part("a", "b").repeat(20_000);
    case 1:
      return `--${BOUNDARY}\r\n${"a: b\r\n".repeat(20_000)}\r\n`;
    case 2:
      return `--${BOUNDARY}\r\ncontent-disposition: form-data; name*=UTF-8''%ff; filename="${"../".repeat(2000)}"\r\n\r\nx`;
    case 3:
      return `${part("__proto__", "a")}${part("a".repeat(100_000), "b")}--${BOUNDARY}--`;
    default:
      return `${chooseWords(random, words, 2)
        .map(([name, value]) => part(name, value))
        .join("")}--${BOUNDARY}--\r\n`;
  }
}
