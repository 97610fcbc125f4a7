import Format from "typebox/format";

/**
 * Nearly all addresses that occur: of a host of plain names, each character standing for itself. These need no parser, which would take
 * more time than all other rules of an item.
 */
const PLAIN = /^(?:s3|https?):\/\/[a-z][a-z0-9]*(?:\.[a-z][a-z0-9]*|-[a-z0-9]+)*(?:\/[\w./~+=,:@-]*)?$/;

export const isIri = (text: string): boolean => PLAIN.test(text) || Format.IsIri(text);

export const isIriReference = (text: string): boolean => PLAIN.test(text) || Format.IsIriReference(text);

Format.Set("iri", isIri);
Format.Set("iri-reference", isIriReference);
