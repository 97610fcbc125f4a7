"""Drives OWSLib against a catalogue: argv[1] is its address. Prints what it saw as JSON."""

import json
import sys

from owslib import fes, fes2
from owslib.catalogue.csw2 import CatalogueServiceWeb as Csw2
from owslib.catalogue.csw3 import CatalogueServiceWeb as Csw3
from owslib.namespaces import Namespaces

url = sys.argv[1]
gmd = Namespaces().get_namespace("gmd")
seen = {}

csw = Csw2(url)
seen["csw2"] = {
    "version": csw.version,
    "type": csw.identification.type,
    "operations": [operation.name for operation in csw.operations],
    "schemas": csw.get_operation_by_name("GetRecords").parameters["outputSchema"]["values"],
}
csw.describerecord()
csw.getdomain("GetRecords.resultType")
seen["domain"] = csw.results["values"]
csw.getdomain("dc:type", dtype="property")
seen["types"] = csw.results["values"]

# What MetaSearch of QGIS sends.
anytext = fes.PropertyIsLike("csw:AnyText", "%scene%", escapeChar="\\", singleChar="_", wildCard="%")
box = fes.BBox([45, 10, 46, 11], crs="urn:ogc:def:crs:EPSG::4326")
csw.getrecords2(constraints=[[anytext, box]], maxrecords=5, esn="full", startposition=0)
first = csw.records[list(csw.records)[0]]
seen["metasearch"] = {
    "matches": csw.results["matches"],
    "returned": csw.results["returned"],
    "next": csw.results["nextrecord"],
    "bbox": [first.bbox.minx, first.bbox.miny, first.bbox.maxx, first.bbox.maxy],
    "crs": first.bbox.crs.code,
}
for esn in ("brief", "summary", "full"):
    csw.getrecords2(constraints=[fes.PropertyIsEqualTo("dc:title", "scene-3")], esn=esn)
    seen["title " + esn] = [record.identifier for record in csw.records.values()]
csw.getrecords2(cql="dc:title like 'scene-1%'", maxrecords=2)
seen["cql"] = csw.results["matches"]
csw.getrecords2(
    constraints=[fes.Or([fes.PropertyIsEqualTo("dc:title", "scene-1"), fes.PropertyIsEqualTo("dc:title", "scene-2")])],
    sortby=fes.SortBy([fes.SortProperty("dc:title", "DESC")]),
)
seen["sorted"] = list(csw.records)
csw.getrecords2(outputschema=gmd, esn="full", constraints=[fes.PropertyIsEqualTo("dc:identifier", "scene-3")])
iso = csw.records["scene-3"]
seen["iso"] = {
    "identifier": iso.identifier,
    "title": iso.identificationinfo[0].title,
    "west": iso.identificationinfo[0].bbox.minx,
    "begin": iso.identificationinfo[0].temporalextent_start,
    "hierarchy": iso.hierarchy,
    "online": [resource.url for resource in iso.distribution.online],
}
csw.getrecordbyid(id=["scene-3", "scene-4"])
seen["byid"] = list(csw.records)
try:
    csw.getrecords2(constraints=[fes.PropertyIsEqualTo("dc:foo", "x")])
    seen["exception"] = None
except Exception as error:
    seen["exception"] = type(error).__name__



def total(name):
    """OWSLib itself looks for the summary of a harvest only."""
    return int(csw._exml.find(".//{http://www.opengis.net/cat/csw/2.0.2}total" + name).text)


record = """<csw:Record xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier>owslib-1</dc:identifier><dc:title>Of a client</dc:title><dc:type>text</dc:type></csw:Record>"""
csw.transaction(ttype="insert", typename="csw:Record", record=record)
seen["insert"] = [total("Inserted"), csw.results["insertresults"]]
csw.transaction(ttype="update", typename="csw:Record", propertyname="dc:title", propertyvalue="Changed", identifier="owslib-1")
seen["update"] = total("Updated")
csw.getrecordbyid(id=["owslib-1"])
seen["updated"] = csw.records["owslib-1"].title
csw.transaction(ttype="delete", typename="csw:Record", identifier="owslib-1")
seen["delete"] = total("Deleted")

csw = Csw3(url)
seen["csw3"] = {
    "version": csw.version,
    "operations": [operation.name for operation in csw.operations],
    "filters": csw.filters.conformance.get("ImplementsStandardFilter"),
}
csw.getdomain("dc:type", dtype="property")
seen["types3"] = csw.results["values"]
csw.getrecords(constraints=[fes2.PropertyIsLike("dc:title", "%scene-1%")], maxrecords=3, esn="brief")
seen["like3"] = [csw.results["matches"], csw.results["returned"], csw.results["nextrecord"]]
csw.getrecords(constraints=[fes2.BBox([45, 10, 46, 11], crs="urn:ogc:def:crs:EPSG::4326")], esn="full", maxrecords=1)
record = list(csw.records.values())[0]
# Its corners are not read: OWSLib looks for those of OWS 1.0.
seen["box3"] = [csw.results["matches"], record.bbox.crs.code]
csw.getrecords(cql="dc:title = 'scene-7'", esn="summary")
seen["cql3"] = list(csw.records)
csw.getrecords(outputschema=gmd, esn="full", constraints=[fes2.PropertyIsEqualTo("dc:identifier", "scene-3")])
seen["iso3"] = list(csw.records)
print(json.dumps(seen))
