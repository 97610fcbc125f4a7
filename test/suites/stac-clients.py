# What pystac-client and owslib make of a catalogue: argv[1] is its address. Prints a line for each finding; the last one is "ok".
import sys
from pystac_client import Client
from owslib.ogcapi.features import Features
from owslib.ogcapi.records import Records

base = sys.argv[1]
client = Client.open(base + "/stac")
collections = {collection.id for collection in client.get_collections()}
assert "landsat-c2-l2" in collections, collections
search = client.search(collections=["landsat-c2-l2"], limit=30, max_items=1000)
items = list(search.items())
assert len(items) == 100 and len({item.id for item in items}) == 100, len(items)
assert search.matched() == 100, search.matched()
cloudless = client.search(
    collections=["landsat-c2-l2"], filter={"op": "<", "args": [{"property": "eo:cloud_cover"}, 10]}, max_items=1000
)
expected = {item.id for item in items if item.properties["eo:cloud_cover"] < 10}
assert {item.id for item in cloudless.items()} == expected
assert {item.id for item in client.search(method="GET", filter="eo:cloud_cover < 10", filter_lang="cql2-text", collections=["landsat-c2-l2"], max_items=1000).items()} == expected
newest = next(client.search(collections=["landsat-c2-l2"], sortby="-datetime", max_items=1).items())
assert newest.datetime == max(item.datetime for item in items)
fields = next(client.search(ids=[items[0].id], fields=["id", "properties.datetime"], max_items=1).items_as_dicts())
assert "assets" not in fields, fields
assert client.get_collection("landsat-c2-l2").get_item(items[0].id).id == items[0].id
assert list(client.collection_search(q="landsat").collections())
for source in (Features(base), Records(base)):
    assert "metadata:main" in [c["id"] for c in source.collections()["collections"]]
    page = source.collection_items("metadata:main", limit=5, bbox=[-180, -90, 180, 90])
    assert page["numberReturned"] == 5, page
    assert source.collection_item("metadata:main", items[0].id)["id"] == items[0].id
records = Records(base)
assert records.collection_items("metadata:main", q="landsat", limit=3)["numberReturned"] == 3
assert records.collection_queryables("metadata:main")["type"] == "object"
print("ok")
