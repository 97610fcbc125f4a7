"""Makes the filters of system calls that programs in sandboxes live with, from the profile that Podman gives its containers.

    apt-get install python3-seccomp golang-github-containers-common
    /usr/bin/python3 libs/isolation/tools/make-filters.py /usr/share/containers/seccomp.json libs/isolation/filters

A filter is a program of the kernel's classic BPF (seccomp(2)), one for each kind of processor. Names in it are those of node's `process.arch`.
`containers.json` is the same as a profile for podman and docker, whose own ones let programs make name spaces.
"""
import json
import sys
from platform import machine

from seccomp import ALLOW, EQ, ERRNO, MASKED_EQ, NE, Arch, Arg, Attr, SyscallFilter

ENOSYS, EPERM = 38, 1
#: Allowed by the profile, since containers nest: nothing in a sandbox makes one. Keys and rings have had most of the kernel's holes.
REFUSED = """
    add_key bpf chroot fsconfig fsmount fsopen fspick io_uring_enter io_uring_register io_uring_setup kcmp keyctl mount mount_setattr
    move_mount name_to_handle_at open_by_handle_at open_tree perf_event_open pivot_root process_madvise quotactl quotactl_fd request_key
    setns swapoff swapon umount umount2 unshare userfaultfd
""".split()
#: The name spaces of clone(2).
NEW_NAME_SPACES = 0x02000000 | 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
#: The C library takes clone(2) instead, whose flags can be looked at.
UNKNOWN = ["clone3"]
COMPARE = {"SCMP_CMP_EQ": EQ, "SCMP_CMP_NE": NE}
TARGETS = {"x64": ([Arch.X86_64, Arch.X86], {"amd64", "x86"}), "arm64": ([Arch.AARCH64, Arch.ARM], {"arm64", "arm"})}
MACHINES = {"x64": {"x86_64"}, "arm64": {"aarch64"}}


def add(rules, action, name, *conditions):
    try:
        rules.add_rule(action, name, *conditions)
    except (RuntimeError, ValueError) as error:
        # A call that this library does not know, or that these processors do not have: unknown to programs as well.
        print(f"left out: {name} ({error})", file=sys.stderr)


def make(profile, archs, names, is_own):
    rules = SyscallFilter(ERRNO(ENOSYS))
    for arch in archs:
        if not rules.exist_arch(arch):
            rules.add_arch(arch)
    if not is_own:
        rules.remove_arch(Arch.NATIVE)
    rules.set_attr(Attr.CTL_OPTIMIZE, 2)
    for name in REFUSED:
        add(rules, ERRNO(EPERM), name)
    add(rules, ALLOW, "clone", Arg(0, MASKED_EQ, NEW_NAME_SPACES, 0))
    decided = {*REFUSED, *UNKNOWN, "clone"}
    for rule in profile["syscalls"]:
        includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
        # No program in a sandbox has a capability.
        if includes.get("caps") or (includes.get("arches") and not names & set(includes["arches"])):
            continue
        if names & set(excludes.get("arches", [])):
            continue
        action = ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else ERRNO(rule.get("errnoRet", EPERM))
        conditions = [Arg(each["index"], COMPARE[each["op"]], each["value"]) for each in rule.get("args") or []]
        for name in sorted(set(rule["names"]) - decided):
            add(rules, action, name, *conditions)
    return rules


def make_profile(profile):
    refused = {"names": REFUSED, "action": "SCMP_ACT_ERRNO", "errnoRet": EPERM}
    plain = {"index": 0, "value": NEW_NAME_SPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    clone = {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [plain]}
    decided = {*REFUSED, *UNKNOWN, "clone"}
    kept = []
    for rule in profile["syscalls"]:
        names = sorted(set(rule["names"]) - decided)
        # No program in a container has a capability.
        if names and not (rule.get("includes") or {}).get("caps"):
            kept.append({key: value for key, value in {**rule, "names": names}.items() if value and key != "comment"})
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": ENOSYS,
        "archMap": profile["archMap"],
        "syscalls": [refused, clone, *kept],
    }


def main():
    source, folder = sys.argv[1:]
    with open(source) as file:
        profile = json.load(file)
    with open(f"{folder}/containers.json", "w") as file:
        json.dump(make_profile(profile), file, indent=1)
        file.write("\n")
    for target, (archs, names) in TARGETS.items():
        with open(f"{folder}/{target}.bpf", "wb") as file:
            make(profile, archs, names, machine() in MACHINES[target]).export_bpf(file)


main()
