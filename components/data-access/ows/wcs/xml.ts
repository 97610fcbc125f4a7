import { escapeXml } from "../ows-error.ts";

export const NAMESPACES = `xmlns:wcs="http://www.opengis.net/wcs/2.0" xmlns:ows="http://www.opengis.net/ows/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:gmlcov="http://www.opengis.net/gmlcov/1.0" xmlns:swe="http://www.opengis.net/swe/2.0" xmlns:crs="http://www.opengis.net/wcs/crs/1.0" xmlns:int="http://www.opengis.net/wcs/interpolation/1.0" xmlns:wcseo="http://www.opengis.net/wcs/wcseo/1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"`;

/** An id that may stand in `gml:id`: letters, digits, `_`, `-` and dots, no digit first. */
export const toXmlId = (id: string): string => `id_${id.replaceAll(/[^\w.-]/g, "_")}`;

export const element = (name: string, text: string | number): string => `<${name}>${escapeXml(String(text))}</${name}>`;
