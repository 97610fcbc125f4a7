import { NS } from "../xml/namespaces.ts";

const view = (name: string, elements: readonly string[]): string =>
  `<xs:element name="${name}" type="csw:${name}Type" substitutionGroup="csw:AbstractRecord"/><xs:complexType name="${name}Type" final="#all"><xs:complexContent><xs:extension base="csw:AbstractRecordType"><xs:sequence>${elements.join("")}</xs:sequence></xs:extension></xs:complexContent></xs:complexType>`;
const required = (name: string): string => `<xs:element ref="${name}" minOccurs="1" maxOccurs="unbounded"/>`;
const several = (name: string): string => `<xs:element ref="${name}" minOccurs="0" maxOccurs="unbounded"/>`;
const TYPE = '<xs:element ref="dc:type" minOccurs="0"/>';

/** What `record.xsd` of CSW 2.0.2 (OGC 07-006r1 §10.2.5) declares: csw:Record and its views. */
export const RECORD_SCHEMA = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:csw="${NS.csw2}" xmlns:dc="${NS.dc}" xmlns:dct="${NS.dct}" xmlns:ows="${NS.ows}" targetNamespace="${NS.csw2}" elementFormDefault="qualified" version="2.0.2"><xs:import namespace="${NS.dct}" schemaLocation="http://schemas.opengis.net/csw/2.0.2/rec-dcterms.xsd"/><xs:import namespace="${NS.dc}" schemaLocation="http://schemas.opengis.net/csw/2.0.2/rec-dcmes.xsd"/><xs:import namespace="${NS.ows}" schemaLocation="http://schemas.opengis.net/ows/1.0.0/owsAll.xsd"/><xs:element name="AbstractRecord" type="csw:AbstractRecordType" abstract="true"/><xs:complexType name="AbstractRecordType" abstract="true"/><xs:element name="DCMIRecord" type="csw:DCMIRecordType" substitutionGroup="csw:AbstractRecord"/><xs:complexType name="DCMIRecordType"><xs:complexContent><xs:extension base="csw:AbstractRecordType"><xs:sequence><xs:group ref="dct:DCMI-terms"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>${view(
  "BriefRecord",
  [required("dc:identifier"), required("dc:title"), TYPE, several("ows:BoundingBox")],
)}${view("SummaryRecord", [
  required("dc:identifier"),
  required("dc:title"),
  TYPE,
  ...["dc:subject", "dc:format", "dc:relation", "dct:modified", "dct:abstract", "dct:spatial", "ows:BoundingBox"].map(
    several,
  ),
])}<xs:element name="Record" type="csw:RecordType" substitutionGroup="csw:AbstractRecord"/><xs:complexType name="RecordType" final="#all"><xs:complexContent><xs:extension base="csw:DCMIRecordType"><xs:sequence><xs:element name="AnyText" type="csw:EmptyType" minOccurs="0" maxOccurs="unbounded"/>${several("ows:BoundingBox")}</xs:sequence></xs:extension></xs:complexContent></xs:complexType><xs:complexType name="EmptyType"/></xs:schema>`;
