# What public validators say of items: argv[1] is a folder of them, argv[2] one of the official schemas. Prints a line for each finding; the
# last one is "ok" and how many there were.
import json, re, sys
from pathlib import Path
import pystac
from pystac.validation import validate_dict
from stac_pydantic.item import Item

folder, schemas = Path(sys.argv[1]), Path(sys.argv[2])


def read_schema(uri):
    """The text of an official schema, from the folder; of those that the official ones refer to elsewhere, one that takes everything."""
    extension = re.match(r"https://stac-extensions\.github\.io/([\w-]+)/(v[^/]+)/schema\.json", uri)
    core = re.match(r"https://schemas\.stacspec\.org/v1\.1\.0/.*/([\w-]+)\.json", uri)
    path = schemas / (f"extensions/{extension[1]}-{extension[2]}.json" if extension else f"stac/{core[1]}.json" if core else "-")
    if path.exists():
        return path.read_text()
    if extension:
        print(f"no schema of {uri}", file=sys.stderr)
    return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "$id": uri})


class LocalIO(pystac.stac_io.DefaultStacIO):
    """Links of the items lead to the catalogue on the loopback interface, which is read; nothing else is reached."""

    def read_text_from_href(self, href):
        is_schema = href.startswith("http") and not href.startswith("http://127.0.0.1:")
        return read_schema(href) if is_schema else super().read_text_from_href(href)


pystac.StacIO.set_default(LocalIO)
files = sorted(folder.glob("*.json"))
failed = 0
for file in files:
    document = json.loads(file.read_text())
    for name, check in {
        "pystac reads": lambda: pystac.Item.from_dict(document).to_dict(),
        "pystac validates": lambda: validate_dict(document),
        "stac-pydantic": lambda: Item.model_validate(document).model_dump(),
    }.items():
        try:
            check()
        except Exception as error:
            failed += 1
            print(f"{file.name}: {name}: {str(error)[:500]}")
print(f"ok {len(files)}" if failed == 0 else f"{failed} findings")
