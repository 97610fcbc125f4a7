"""The platform's services for programs: search, read rasters as arrays, run processes, files of the workspace.

Needs nothing but Python's standard library. Inside a server of the application hub, and in its notebooks in the browser, it knows
where the platform is and gets tokens by itself, again before they end. Elsewhere: swath.login("https://eo.example.org"), which logs you in
with a browser anywhere and remembers it, as the command swath login does; or swath.connect(services={...}, token="...").

    import swath
    items = swath.search(collections=["sentinel-2"], bbox=[15.2, 46.3, 15.4, 46.4], limit=5)
    red = swath.open(items[0], "red", max_size=256)
    job = swath.run("ndvi", {"scene": items[0]})
    print(job.wait().status, swath.Files().list())
"""

from __future__ import annotations

import array
import ast
import datetime
import hashlib
import hmac
import io
import json
import os
import struct
import sys
import tempfile
import time
import typing
import urllib.parse
import zlib

__all__ = ["connect", "login", "logout", "environment", "search", "open", "run", "deploy", "processes", "jobs", "Raster", "Job", "Files", "SwathError", "to_png", "ndvi"]

_IN_BROWSER = sys.platform == "emscripten"
_RENEW_BEFORE_SECONDS = 60
_given = None
_known = None
_known_until = 0.0


class SwathError(Exception):
    """A service refused; `status` and `detail` say why."""

    def __init__(self, status: int | str, detail: str, url: str) -> None:
        super().__init__(f"{status}: {detail} ({url})")
        self.status = status
        self.detail = detail


# ---------------------------------------------------------------------------------------------- where the platform is


def connect(
    services: typing.Mapping[str, str],
    token: str | typing.Callable[[], str] | None = None,
    user: str | None = None,
    s3: typing.Mapping[str, str] | typing.Callable[[], typing.Mapping[str, str]] | None = None,
) -> None:
    """Uses these services instead of those of the environment. `token` and `s3` are values or functions that give them."""
    global _given
    _given = {"services": dict(services), "token": token, "user": user, "s3": s3}
    if user is not None:
        _given["workspace"] = {"name": f"ws-{user}", "bucket": f"ws-{user}"}


def environment() -> dict[str, typing.Any]:
    """Who and where one is: user, services, token, workspace, s3. Asked again before the token ends."""
    global _known, _known_until
    if _given is not None:
        token = _given["token"]
        # Keys of the storage are asked for where they are used.
        return {**_given, "token": token() if callable(token) else token}
    if _known is None or time.time() > _known_until:
        if _IN_BROWSER:
            status, _, body = _send("GET", "/.swath/environment", {}, None)
        elif "JUPYTERHUB_API_URL" in os.environ:
            url = os.environ["JUPYTERHUB_API_URL"] + "/swath/environment"
            status, _, body = _send("GET", url, {"Authorization": "token " + os.environ["JUPYTERHUB_API_TOKEN"]}, None)
        else:
            raise RuntimeError("this is no server of the application hub; call swath.login('https://eo.example.org') first")
        if status != 200:
            raise SwathError(status, _detail(body), "the hub")
        _known = json.loads(body)
        _known_until = _seconds(_known["expires"]) - _RENEW_BEFORE_SECONDS
    return _known


_SERVICES = ("resource-catalogue", "data-access", "ades", "workspace-api", "registration-api", "registry", "application-hub")
_CLIENT = "swath-cli"


def login(platform: str | None = None, issuer: str | None = None, say: typing.Callable[[str], object] = print) -> str:
    """Logs in to a platform ("https://eo.example.org"), with a browser anywhere, and uses it from now on. Gives the user's name.

    What the command swath login keeps is used and kept up to date; without a platform the newest login is. `say` gets the address to open.
    """
    saved = _read_logins()
    wanted = saved.get("current") if platform is None else platform.rstrip("/")
    if wanted is None:
        raise RuntimeError('log in to which platform? swath.login("https://eo.example.org")')
    if "://" not in wanted:
        wanted = "https://" + wanted
    known = next((each for each in saved["logins"] if each["platform"] == wanted), None)
    if known is not None:
        try:
            known = _renew(known)
        except SwathError as error:
            if error.status not in (400, 401):
                raise
            known = None
    if known is None:
        known = _log_in(wanted, issuer or _address_at(wanted, "identity") + "/realms/master", say)
    _use(known)
    return str(known["user"])


def logout() -> None:
    """Ends the login at the platform and forgets it."""
    global _given
    if _given is None or "platform" not in _given:
        raise RuntimeError("you are not logged in")
    wanted, _given = _given["platform"], None
    saved = _read_logins()
    known = next((each for each in saved["logins"] if each["platform"] == wanted), None)
    others = [each for each in saved["logins"] if each["platform"] != wanted]
    _write_logins({"current": others[-1]["platform"] if others else None, "logins": others})
    if known is not None:
        end = _discover(known["issuer"]).get("revocation_endpoint")
        if end is not None:
            _post_form(end, {"token": known["refreshToken"], "client_id": known.get("client", _CLIENT)})


def _use(known):
    user, platform = known["user"], known["platform"]

    def token():
        nonlocal known
        if known["accessTokenEnds"] / 1000 < time.time() + 10:
            known = _renew(known)
        return known["accessToken"]

    def keys():
        _, content = _call("workspace-api", f"/workspaces/ws-{urllib.parse.quote(user, safe='')}")
        found = json.loads(content)["storage"]["credentials"]
        return {"endpoint": found["endpoint"], "region": found["region"], "access_key": found["access"], "secret_key": found["secret"]}

    connect({name: _address_at(platform, name) for name in _SERVICES}, token=token, user=user, s3=keys)
    if _given is not None:
        _given["platform"] = platform


def _address_at(platform, service):
    scheme, _, host = platform.partition("://")
    return f"{scheme}://{service}.{host}"


def _log_in(platform, issuer, say):
    """Device authorization grant (RFC 8628)."""
    found = _discover(issuer)
    begun = _post_form(found["device_authorization_endpoint"], {"client_id": _CLIENT, "scope": "openid profile email offline_access"})
    say(f"Open {begun.get('verification_uri_complete') or begun['verification_uri']}\nand check that the page shows the code {begun['user_code']}")
    pause = begun.get("interval", 5)
    while True:
        time.sleep(pause)
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": begun["device_code"], "client_id": _CLIENT}
        try:
            tokens = _post_form(found["token_endpoint"], form)
            break
        except SwathError as error:
            if error.detail == "slow_down":
                pause += 5
            elif error.detail != "authorization_pending":
                raise
    return _keep({"platform": platform, "issuer": issuer, "user": _user_of(found, tokens), "refreshToken": ""}, tokens)


def _user_of(found, tokens):
    status, _, content = _send("GET", found["userinfo_endpoint"], {"Authorization": "Bearer " + tokens["access_token"]}, None)
    if status >= 400:
        raise SwathError(status, _detail(content), found["userinfo_endpoint"])
    return json.loads(content)["preferred_username"]


def _renew(known):
    if known["accessTokenEnds"] / 1000 > time.time() + 60:
        return known
    form = {"grant_type": "refresh_token", "refresh_token": known["refreshToken"], "client_id": known.get("client", _CLIENT)}
    return _keep(known, _post_form(_discover(known["issuer"])["token_endpoint"], form))


def _discover(issuer):
    url = issuer + "/.well-known/openid-configuration"
    status, _, content = _send("GET", url, {"Accept": "application/json"}, None)
    if status >= 400:
        raise SwathError(status, _detail(content), url)
    return json.loads(content)


def _post_form(url, form):
    headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
    status, _, content = _send("POST", url, headers, urllib.parse.urlencode(form).encode())
    if status >= 400:
        try:
            reason = json.loads(content).get("error", "")
        except ValueError:
            reason = content.decode("utf-8", "replace")[:300]
        raise SwathError(status, reason, url)
    return json.loads(content) if content.strip() else {}


def _keep(known, tokens):
    ends = int((time.time() + tokens.get("expires_in", 60)) * 1000)
    # An issuer that does not rotate refresh tokens gives none with a renewal.
    login = {**known, "refreshToken": tokens.get("refresh_token") or known["refreshToken"], "accessToken": tokens["access_token"], "accessTokenEnds": ends}
    others = [each for each in _read_logins()["logins"] if each["platform"] != login["platform"]]
    _write_logins({"current": login["platform"], "logins": [*others, login]})
    return login


def _login_file():
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(folder, "swath", "logins.json")


def _read_logins():
    try:
        with io.open(_login_file(), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"logins": []}


def _write_logins(saved):
    """Readable for the owner alone, and whole or not at all."""
    path = _login_file()
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    handle, next_path = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({name: value for name, value in saved.items() if value is not None}, file, indent=2)
        file.write("\n")
    os.replace(next_path, path)


def _seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _address(service):
    services = environment()["services"]
    if service not in services:
        raise RuntimeError(f"this deployment has no service {service}; there are: {', '.join(sorted(services)) or 'none'}")
    return services[service]


def _call(service, path, method="GET", body=None, headers=None, type="application/json"):
    """A request to a service with the user's token; gives headers and body."""
    url = path if path.startswith("http") else _address(service) + path
    token = environment().get("token")
    sent = {"Accept": "application/json", **({"Authorization": "Bearer " + token} if token else {}), **(headers or {})}
    data = None
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent["Content-Type"] = type
    status, answered, content = _send(method, _reach(url), sent, data)
    if status >= 400:
        raise SwathError(status, _detail(content), url)
    return answered, content


def _reach(url):
    """In the browser, services are reached by the page's own origin."""
    if not _IN_BROWSER:
        return url
    for name, address in environment()["services"].items():
        if url == address or url.startswith(address + "/"):
            return f"/.swath/services/{name}{url[len(address):] or '/'}"
    raise RuntimeError(f"{url} is at none of the platform's services, and a notebook in the browser reaches no others")


def _detail(content):
    text = content.decode("utf-8", "replace")
    try:
        found = json.loads(text)
        return str(found.get("detail") or found.get("message") or found.get("description") or found.get("title") or text[:300])
    except (ValueError, AttributeError):
        return text[:300].strip()


def _send(method, url, headers, body):
    """Status, headers with names in small letters, body."""
    if _IN_BROWSER:
        import js
        from pyodide.ffi import to_js

        request = js.XMLHttpRequest.new()
        request.open(method, url, False)
        request.responseType = "arraybuffer"
        for name, value in headers.items():
            if name.lower() not in ("host", "content-length"):
                request.setRequestHeader(name, value)
        request.send(None if body is None else to_js(body))
        lines = [line.split(":", 1) for line in request.getAllResponseHeaders().splitlines() if ":" in line]
        return request.status, {name.strip().lower(): value.strip() for name, value in lines}, request.response.to_bytes() if request.response else b""
    import urllib.error
    import urllib.request

    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    host = request.host.rpartition(":")[0] or request.host
    proxied = "http" in urllib.request.getproxies() and not urllib.request.proxy_bypass(host)
    if request.type == "http" and host.endswith(".localhost") and not proxied:
        # Browsers know where these names lead (RFC 6761, section 6.3); resolvers do not everywhere.
        request.add_header("Host", request.host)
        request.host = "127.0.0.1" + request.host[len(host):]
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, {name.lower(): value for name, value in error.headers.items()}, error.read()


# ---------------------------------------------------------------------------------------------------------- catalogue


def search(
    collections: typing.Sequence[str] | None = None,
    bbox: typing.Sequence[float] | None = None,
    datetime: str | None = None,
    query: typing.Mapping[str, typing.Any] | None = None,
    filter: str | None = None,
    limit: int = 10,
    ids: typing.Sequence[str] | None = None,
) -> list[dict[str, typing.Any]]:
    """STAC items. `datetime` like "2020-01-01/2020-12-31", `filter` CQL2 text."""
    body: dict[str, typing.Any] = {"limit": limit}
    for name, value in (("collections", collections), ("bbox", bbox), ("datetime", datetime), ("query", query), ("ids", ids)):
        if value is not None:
            body[name] = value
    if filter is not None:
        body.update({"filter": filter, "filter-lang": "cql2-text"})
    _, content = _call("resource-catalogue", "/stac/search", "POST", body)
    return json.loads(content)["features"]


# ------------------------------------------------------------------------------------------------------------ rasters


class Raster:
    """Values of a raster, band by band: `bands` are array.array of length width × height. numpy.array(raster) where numpy is."""

    def __init__(self, bands: typing.Sequence[array.array[typing.Any]], width: int, height: int) -> None:
        self.bands = bands
        self.width = width
        self.height = height

    @property
    def shape(self) -> tuple[int, int, int]:
        return (len(self.bands), self.height, self.width)

    def __array__(self, dtype=None, copy=None):
        import numpy

        values = numpy.array([numpy.frombuffer(band, dtype=band.typecode) for band in self.bands]).reshape(self.shape)
        return values if dtype is None else values.astype(dtype)

    def __repr__(self):
        return f"<Raster {len(self.bands)} × {self.height} × {self.width}>"

    def _repr_png_(self):
        return to_png(self)


def open(
    item: str | typing.Mapping[str, typing.Any],
    asset: str | None = None,
    bbox: typing.Sequence[float] | None = None,
    max_size: int = 1024,
) -> Raster:
    """A raster as values, by data access: an item of `search` and the name of its asset, or an address (https:// or s3://)."""
    url = item if isinstance(item, str) else item["assets"][asset]["href"]
    if isinstance(item, str) and url.startswith("s3://"):
        # A private file: read here with the user's own keys, since data access has none of theirs.
        bucket, _, key = url[5:].partition("/")
        return _shrink(_read_tiff(Files(bucket).read(key)), max_size)
    # Of an item, data access finds the file with the rights of who asks; an address alone has to be open to it.
    own = None if isinstance(item, str) else _address_of(item)
    query = {"url": url if own is None else own, "max_size": max_size, **({} if own is None else {"assets": asset})}
    base = "/cog" if own is None else "/stac"
    path = f"{base}/preview.npy" if bbox is None else f"{base}/bbox/" + ",".join(str(number) for number in bbox) + ".npy"
    _, content = _call("data-access", f"{path}?{urllib.parse.urlencode(query)}", headers={"Accept": "*/*"})
    return _read_npy(content)


def _address_of(item):
    """Where the catalogue has an item; None for one that is not of this catalogue."""
    if "resource-catalogue" not in environment()["services"]:
        return None
    found = next((link["href"] for link in item.get("links", []) if link.get("rel") == "self"), None)
    if found is None and item.get("collection"):
        return f"{_address('resource-catalogue')}/stac/collections/{item['collection']}/items/{item['id']}"
    return found


_TYPES = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i", "f4": "f", "f8": "d"}


def _read_npy(content):
    """NumPy's file format (NEP 1). A last band that is a mask is left out."""
    if content[:6] != b"\x93NUMPY":
        raise ValueError("data access did not send an array")
    wide = content[6] >= 2
    (length,) = struct.unpack("<I" if wide else "<H", content[8 : 12 if wide else 10])
    start = (12 if wide else 10) + length
    header = ast.literal_eval(content[(12 if wide else 10) : start].decode("latin1"))
    code = _TYPES.get(header["descr"].lstrip("<>|="))
    if code is None or header["fortran_order"]:
        raise ValueError(f"arrays of {header['descr']} are not read")
    shape = header["shape"]
    values = array.array(code)
    values.frombytes(content[start:])
    if header["descr"].startswith(">") != (sys.byteorder == "big") and values.itemsize > 1:
        values.byteswap()
    count, height, width = shape if len(shape) == 3 else (1, *shape)
    size = height * width
    bands = [values[index * size : (index + 1) * size] for index in range(count)]
    return Raster(bands[:-1] if count in (2, 4) else bands, width, height)


def _shrink(raster, max_size):
    """Every n-th value of every n-th row."""
    step = max(1, -(-max(raster.width, raster.height) // max_size))
    if step == 1:
        return raster
    rows = range(0, raster.height, step)
    bands = []
    for band in raster.bands:
        kept = array.array(band.typecode)
        for y in rows:
            kept.extend(band[y * raster.width : (y + 1) * raster.width : step])
        bands.append(kept)
    return Raster(bands, -(-raster.width // step), len(rows))


_SAMPLES = {(1, 1): "B", (1, 2): "H", (1, 4): "I", (2, 1): "b", (2, 2): "h", (2, 4): "i", (3, 4): "f", (3, 8): "d"}


def _read_tiff(content):
    """Values of a TIFF or GeoTIFF: strips or tiles, none or deflate, horizontal predictor. Other kinds are data access's."""
    order = {b"II": "<", b"MM": ">"}.get(content[:2])
    if order is None or struct.unpack(order + "H", content[2:4])[0] != 42:
        raise ValueError("this is no TIFF file")
    sizes = {1: ("B", 1), 3: ("H", 2), 4: ("I", 4)}
    (place,) = struct.unpack(order + "I", content[4:8])
    (count,) = struct.unpack(order + "H", content[place : place + 2])
    tags = {}
    for index in range(count):
        tag, kind, number = struct.unpack(order + "HHI", content[place + 2 + 12 * index : place + 10 + 12 * index])
        if kind in sizes:
            code, size = sizes[kind]
            at = place + 10 + 12 * index
            if number * size > 4:
                (at,) = struct.unpack(order + "I", content[at : at + 4])
            tags[tag] = struct.unpack(order + str(number) + code, content[at : at + number * size])
    width, height = tags[256][0], tags[257][0]
    bits, samples = tags.get(258, (1,))[0], tags.get(277, (1,))[0]
    compression, predictor = tags.get(259, (1,))[0], tags.get(317, (1,))[0]
    code = _SAMPLES.get((tags.get(339, (1,))[0], bits // 8))
    if code is None or compression not in (1, 8, 32946) or predictor not in (1, 2) or (samples > 1 and tags.get(284, (1,))[0] != 1):
        raise ValueError("this kind of TIFF is not read here; publish it and read it through data access")
    tiled = 322 in tags
    across, down = (tags[322][0], tags[323][0]) if tiled else (width, min(tags.get(278, (height,))[0], height))
    bands = [array.array(code, bytes(width * height * (bits // 8))) for _ in range(samples)]
    columns = -(-width // across)
    for index, (start, size) in enumerate(zip(tags[324 if tiled else 273], tags[325 if tiled else 279])):
        data = content[start : start + size]
        values = array.array(code)
        data = zlib.decompress(data) if compression != 1 else data
        values.frombytes(data[: len(data) // values.itemsize * values.itemsize])
        if values.itemsize > 1 and order != ("<" if sys.byteorder == "little" else ">"):
            values.byteswap()
        left, top = index % columns * across, index // columns * down
        mask = (1 << bits) - 1
        for y in range(min(down, height - top)):
            row = values[y * across * samples : (y + 1) * across * samples]
            if predictor == 2:
                for at in range(samples, len(row)):
                    row[at] = (row[at] + row[at - samples]) & mask
            used = min(across, width - left)
            for number, band in enumerate(bands):
                at = (top + y) * width + left
                band[at : at + used] = row[number : used * samples : samples]
    return Raster(bands, width, height)


def ndvi(red: Raster, near_infrared: Raster) -> Raster:
    """(nir - red) / (nir + red) as a raster of one band; 0 where both are 0."""
    values = array.array("f", ((n - r) / (n + r) if n + r else 0.0 for r, n in zip(red.bands[0], near_infrared.bands[0])))
    return Raster([values], red.width, red.height)


def to_png(raster: Raster, low: float | None = None, high: float | None = None) -> bytes:
    """A picture of the first band, or of three as colours, stretched from `low` to `high`."""
    bands = raster.bands[:3] if len(raster.bands) >= 3 else raster.bands[:1]
    rows = bytearray()
    scaled = []
    for band in bands:
        bottom = min(band) if low is None else low
        top = max(band) if high is None else high
        span = (top - bottom) or 1
        scaled.append(bytes(0 if value <= bottom else 255 if value >= top else int((value - bottom) * 255 / span) for value in band))
    for y in range(raster.height):
        rows.append(0)
        row = slice(y * raster.width, (y + 1) * raster.width)
        rows += scaled[0][row] if len(scaled) == 1 else b"".join(bytes(pixel) for pixel in zip(*(band[row] for band in scaled)))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", raster.width, raster.height, 8, 0 if len(scaled) == 1 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")


# --------------------------------------------------------------------------------------------------------- processing


def _space():
    return "/" + urllib.parse.quote(environment()["user"], safe="") + "/ogc-api"


def processes() -> list[dict[str, str | None]]:
    """Ids and titles of the processes that one may run."""
    _, content = _call("ades", _space() + "/processes?limit=1000")
    return [{"id": each["id"], "title": each.get("title")} for each in json.loads(content)["processes"]]


def deploy(package: str | typing.Mapping[str, typing.Any], type: str = "application/cwl") -> str:
    """Deploys an application package (CWL text, or a dictionary); replaces one of the same id. Gives the id."""
    body = package.encode() if isinstance(package, str) else json.dumps(package).encode()
    try:
        _, content = _call("ades", _space() + "/processes", "POST", body, type=type)
    except SwathError as error:
        if error.status not in (403, 409):
            raise
        _, checked = _call("ades", _space() + "/packages/check", "POST", body, type=type)
        found = json.loads(checked)
        name = (found.get("process") or found.get("description") or found)["id"]
        _call("ades", f"{_space()}/processes/{name}", "PUT", body, type=type)
        return name
    return json.loads(content)["id"]


def run(process: str, inputs: typing.Mapping[str, typing.Any] | None = None) -> Job:
    """Starts a process; the job goes on by itself. Values, and {"href": "…"} for files."""
    path = f"{_space()}/processes/{urllib.parse.quote(process, safe=':')}/execution"
    answered, content = _call("ades", path, "POST", {"inputs": inputs or {}, "response": "document"}, headers={"Prefer": "respond-async"})
    return Job(json.loads(content)["jobID"])


def jobs(limit: int = 20) -> list[Job]:
    """The latest jobs."""
    _, content = _call("ades", f"{_space()}/jobs?limit={limit}")
    return [Job(each["jobID"], each) for each in json.loads(content)["jobs"]]


class Job:
    """A job of the processing service."""

    def __init__(self, id: str, info: dict[str, typing.Any] | None = None) -> None:
        self.id = id
        self.info = info or {}

    @property
    def status(self) -> str | None:
        return self.info.get("status")

    def refresh(self, wait: int = 0) -> Job:
        headers = {"Prefer": f"wait={wait}"} if wait else None
        _, content = _call("ades", f"{_space()}/jobs/{self.id}", headers=headers)
        self.info = json.loads(content)
        return self

    def wait(self, timeout: float = 3600) -> Job:
        """Until it has ended. Raises SwathError where it failed, TimeoutError where it takes longer."""
        end = time.time() + timeout
        while self.refresh(wait=20).status in ("accepted", "running"):
            if time.time() > end:
                raise TimeoutError(f"job {self.id} is {self.status} after {timeout} seconds")
            if _IN_BROWSER:
                time.sleep(0.2)
        if self.status != "successful":
            raise SwathError(self.status, self.info.get("message", ""), self.id)
        return self

    def results(self) -> dict[str, typing.Any]:
        _, content = _call("ades", f"{_space()}/jobs/{self.id}/results")
        return json.loads(content)

    def log(self) -> str:
        _, content = _call("ades", f"{_space()}/jobs/{self.id}/logs", headers={"Accept": "*/*"})
        return content.decode("utf-8", "replace")

    def __repr__(self):
        return f"<Job {self.id} {self.status}>"


# ---------------------------------------------------------------------------------------------------- workspace files


class Files:
    """Files of a workspace, by S3 with temporary keys of the user's own login."""

    def __init__(self, bucket: str | None = None) -> None:
        self.bucket = bucket or environment()["workspace"]["bucket"]

    def list(self, prefix: str = "") -> typing.List[str]:
        import xml.etree.ElementTree as tree

        names, token = [], None
        while True:
            query = {"list-type": "2", "prefix": prefix, **({"continuation-token": token} if token else {})}
            root = tree.fromstring(self._request("GET", "", query))
            space = root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""
            names += [each.findtext(f"{space}Key") for each in root.iter(f"{space}Contents")]
            token = root.findtext(f"{space}NextContinuationToken")
            if not token:
                return names

    def read(self, key: str) -> bytes:
        return self._request("GET", key)

    def write(self, key: str, content: str | bytes) -> None:
        self._request("PUT", key, body=content.encode() if isinstance(content, str) else bytes(content))

    def delete(self, key: str) -> None:
        self._request("DELETE", key)

    def link(self, key: str, seconds: int = 900) -> str:
        """An address that reads a file without keys for a while."""
        s3 = self._keys()
        moment = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        scope = f"{moment[:8]}/{s3['region']}/s3/aws4_request"
        path = urllib.parse.quote(f"/{self.bucket}/{key}", safe="/-_.~")
        host = urllib.parse.urlsplit(s3["endpoint"]).netloc
        query = {
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"{s3['access_key']}/{scope}",
            "X-Amz-Date": moment,
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
            **({"X-Amz-Security-Token": s3["session_token"]} if s3.get("session_token") else {}),
        }
        text = urllib.parse.urlencode(sorted(query.items()), quote_via=urllib.parse.quote, safe="-_.~")
        canonical = "\n".join(["GET", path, text, "host:" + host, "", "host", "UNSIGNED-PAYLOAD"])
        return f"{s3['endpoint']}{path}?{text}&X-Amz-Signature={_signature(s3, moment, scope, canonical)}"

    def _keys(self):
        s3 = environment().get("s3") or {}
        if callable(s3):
            s3 = s3()
        if "access_key" not in s3:
            raise RuntimeError("there are no keys for the object storage; is there a workspace?")
        if "expires" in s3 and _seconds(s3["expires"]) < time.time() + _RENEW_BEFORE_SECONDS:
            global _known_until
            _known_until = 0.0
            s3 = environment()["s3"]
        return s3

    def _request(self, method, key, query=None, body=b""):
        s3 = self._keys()
        path = urllib.parse.quote(f"/{self.bucket}/{key}" if key else f"/{self.bucket}", safe="/-_.~")
        url = s3["endpoint"] + path
        text = urllib.parse.urlencode(sorted((query or {}).items()), quote_via=urllib.parse.quote, safe="-_.~")
        headers = _sign(s3, method, urllib.parse.urlsplit(url).netloc, path, text, body)
        status, _, content = _send(method, _reach(url + ("?" + text if text else "")), headers, body if method == "PUT" else None)
        if status >= 400:
            raise SwathError(status, _detail(content), url)
        return content


def _sign(s3, method, host, path, query, body):
    """AWS Signature Version 4."""
    moment = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": moment}
    if s3.get("session_token"):
        headers["x-amz-security-token"] = s3["session_token"]
    names = ";".join(sorted(headers))
    canonical = "\n".join([method, path, query, *(f"{name}:{headers[name]}" for name in sorted(headers)), "", names, digest])
    scope = f"{moment[:8]}/{s3['region']}/s3/aws4_request"
    signature = _signature(s3, moment, scope, canonical)
    headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={s3['access_key']}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {name.title() if name.startswith("x-") else name.capitalize(): value for name, value in headers.items()}


def _signature(s3, moment, scope, canonical):
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + s3["secret_key"]).encode()
    for part in (moment[:8], s3["region"], "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
