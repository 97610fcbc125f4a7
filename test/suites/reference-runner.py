"""Runs the reference runner once for each line of standard input, each in a process of its own with a limit of time.

A line is {"id", "args", "cwd", "seconds"}; the answer {"id", "code", "out", "said"}. Importing the runner is what takes long,
so that is done once.
"""
import io
import json
import os
import signal
import sys
import tempfile
import time

import cwltool.main
import cwltool.process


def run_child(request, out, said):
    os.setsid()
    os.chdir(request["cwd"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(said.fileno(), 2)
    stdout = os.fdopen(1, "w")
    try:
        code = cwltool.main.main(request["args"], stdout=stdout)
    except SystemExit as stop:
        code = stop.code
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        code = 1
    stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def read_end(file, limit):
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - limit))
    return file.read().decode("utf-8", "replace")


def answer(request):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            run_child(request, out, said)
        until = time.monotonic() + request["seconds"]
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                break
            if time.monotonic() > until:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                code = "too long"
                break
            time.sleep(0.01)
        return {"id": request["id"], "code": code, "out": read_end(out, 4_000_000), "said": read_end(said, 2000)}


def load_schemas():
    """Reading the schemas takes longer than most documents; the processes made later have them already."""
    parser = cwltool.main.arg_parser()
    cwltool.main.setup_schema(parser.parse_args(["--enable-ext", "--enable-dev", "none.cwl"]), None)
    for version in ("v1.0", "v1.1", "v1.2", "v1.3.0-dev1"):
        cwltool.process.get_schema(version)
    cwltool.main.setup_schema = lambda *given: None


load_schemas()
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
