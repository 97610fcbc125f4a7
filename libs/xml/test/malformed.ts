interface Malformed {
  /** The rule that is broken: of XML 1.0 or of Namespaces in XML. */
  readonly rule: string;
  readonly text: string;
}

/** Put where the root element's content begins. */
const INSIDE: Readonly<Record<string, string>> = {
  "an entity is declared": "&foo;",
  "an ampersand begins a reference": "&",
  "a reference ends": "&amp",
  "a reference is to a character": "&#0;",
  "a reference is to no surrogate": "&#xD800;",
  "a reference is below 0x110000": "&#x110000;",
  "an attribute occurs once": '<x b="1" b="2"/>',
  "an attribute occurs once in a namespace": '<x xmlns:p="x" xmlns:q="x" p:b="" q:b=""/>',
  "an attribute's value is quoted": "<x b=1/>",
  "an attribute has a value": "<x b/>",
  "an attribute's value has no <": '<x b="<"/>',
  "blanks separate attributes": '<x b="1"c="2"/>',
  "elements end in the order that they began in": "<x><y></x></y>",
  "an element that ends has begun": "</x>",
  "a name begins with a letter": "<1x/>",
  "a name has no other characters": "<x!y/>",
  "a prefix is declared": "<p:x/>",
  "text has no ]]>": "]]>",
  "a comment has no --": "<!-- -- -->",
  "a comment ends": "<!-- ",
  "a CDATA section ends": "<![CDATA[ ",
  "text is of characters": "\u0001",
  "a declaration is at the beginning": '<?xml version="1.0"?>',
};

/**
 * Documents that each break one rule, made of a whole one that a reader takes: the reader refuses them for that rule, and not for what
 * they are about.
 */
export function breakDocument(document: string): readonly Malformed[] {
  const start = /<[A-Za-z_][^>]*[^/]>/.exec(document);
  if (start === null) {
    throw new TypeError("The document has no root element with content.");
  }
  const content = start.index + start[0].length;
  return [
    ...Object.entries(INSIDE).map(([rule, text]) => ({
      rule,
      text: document.slice(0, content) + text + document.slice(content),
    })),
    { rule: "there is one root", text: `${document}<x/>` },
    { rule: "no text follows the root", text: `${document}text` },
    { rule: "no text precedes the root", text: `text${document}` },
    { rule: "the root ends", text: document.slice(0, document.lastIndexOf("</")) },
    { rule: "nothing precedes the declaration", text: ` <?xml version="1.0"?>${document.slice(start.index)}` },
    { rule: "there is a root", text: "<!-- nothing -->" },
  ];
}
