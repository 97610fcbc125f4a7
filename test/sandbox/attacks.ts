/** What surrounds a sandbox in the tests, none of which a program in it may reach. */
export interface Surroundings {
  /** A folder of the host with a file `secret`, a folder `another` of another user, and a socket `control.sock`. */
  readonly folder: string;
  readonly secret: string;
  /** A port of the host's loopback interface at which something listens. */
  readonly port: number;
  /** A descriptor that the service inherited. */
  readonly descriptor: number;
  /** Number of a process of the host. */
  readonly process: number;
  /** Whether network policies alone keep a pod from other machines, which not every cluster enforces. */
  readonly hasNetwork?: boolean;
}

interface Attempt {
  /** A command of the shell, run in the sandbox. */
  readonly script: (surroundings: Surroundings) => string;
  /** What it must say. */
  readonly holds: RegExp;
  /** What it must not say. */
  readonly breaks?: RegExp;
}

export interface Attack extends Attempt {
  readonly title: string;
  /** What differs in a container and in a pod; or why there is nothing to try. Left out: the same. */
  readonly inContainers?: Partial<Attempt> | { readonly skip: string };
}

/** Said by a script that did what it must not. */
const broken = /BROKEN/;
const tries = (command: string): string => `(${command}) >/dev/null 2>&1 && echo BROKEN`;

/** One table for tools and servers, and for every way to make a sandbox: on this machine, in containers, in pods. */
export const ATTACKS: readonly Attack[] = [
  {
    title: "reads no file of the host, of users or of other jobs",
    script: ({ folder }) =>
      `(cat ${folder}/secret ${folder}/another/secret /etc/shadow /root/.bashrc /home/*/.ssh/* /proc/1/root${folder}/secret; ls -A ${folder} /root /var/lib; echo held) 2>/dev/null`,
    holds: /^held$/m,
    breaks: /a-secret|root:[^:]*:\d|another|control/,
  },
  {
    title: "writes nothing but its own folders",
    script: () =>
      [
        ...["/", "/usr/bin", "/etc", "/run", "/dev", "/proc/sys/kernel", "/sys", "/mnt", "/opt", "/var"].map((place) =>
          tries(`echo x >${place}/swath-was-here`),
        ),
        tries("panic=$(cat /proc/sys/kernel/panic); echo $panic >/proc/sys/kernel/panic"),
        tries("echo b >/proc/sysrq-trigger"),
        "echo x >/tmp/own && echo held",
      ].join("; "),
    holds: /^held$/m,
    breaks: broken,
  },
  {
    title: "reaches no socket of the platform",
    script: ({ folder }) =>
      [
        `ln -s ${folder}/control.sock /tmp/link`,
        ...[`${folder}/control.sock`, "/tmp/link", `/proc/1/root${folder}/control.sock`].map((path) =>
          tries(`/usr/bin/perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer=>"${path}") or exit 1'`),
        ),
        tries("find / -xdev -type s | grep -q control"),
        "echo held",
      ].join("; "),
    holds: /^held$/m,
    breaks: broken,
  },
  {
    title: "has a network of its own with a loopback interface alone",
    script: ({ port }) =>
      `${tries(`bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}'`)}; ${tries("bash -c 'exec 3<>/dev/tcp/169.254.169.254/80'")}; ` +
      "tail -n +3 /proc/net/dev | wc -l; echo held",
    holds: /^1\nheld$/m,
    breaks: broken,
    inContainers: {
      // A pod has an interface of its own besides; busybox has no /dev/tcp, and the shell's own has no time limit.
      script: ({ port, hasNetwork = false }) =>
        [
          tries(`echo | nc -w 2 127.0.0.1 ${port} | grep BROKEN`),
          ...(hasNetwork ? [] : [tries("echo | nc -w 2 169.254.169.254 80")]),
          "[ $(tail -n +3 /proc/net/dev | wc -l) -le 2 ] && echo held",
        ].join("; "),
      holds: /^held$/m,
    },
  },
  {
    title: "sees no process of the host, nor a path of the host in its first one",
    script: ({ folder }) =>
      `cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' '\\n' >/tmp/seen; grep -c . /tmp/seen; ` +
      `${tries(`tr '\\0' '\\n' </proc/1/cmdline | head -4 | grep -q ${folder}`)}; ` +
      "[ $(ls -d /proc/[0-9]* | wc -l) -lt 10 ] && echo held",
    holds: /^held$/m,
    breaks: broken,
  },
  {
    title: "has no capability, no way to gain one, and makes no name space",
    script: () =>
      [
        tries("unshare --user true"),
        tries("unshare --user --map-root-user --mount true"),
        tries("unshare --net true"),
        tries("mount -t tmpfs none /tmp"),
        tries("umount /proc"),
        tries("chroot / true"),
        tries("mknod /tmp/disk b 254 0"),
        "grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs)' /proc/self/status | tr -d '\\t' | sort -u",
        "grep -c '^Cap[IPEA].*:[[:space:]]*0*$' /proc/self/status",
        "grep '^Seccomp:' /proc/self/status | tr -d '\\t'",
      ].join("; "),
    holds: /NoNewPrivs:1\n4\nSeccomp:2$/m,
    breaks: broken,
  },
  {
    title: "has the first three descriptors and no other",
    // The shell has a fourth while it lists them.
    script: ({ descriptor }) =>
      `for each in /proc/$$/fd/*; do printf '%s ' "\${each##*/}"; done; ${tries(`echo x >&${descriptor}`)}; echo held`,
    holds: /^0 1 2 3 held$/m,
    breaks: broken,
  },
  {
    title: "fills no memory by temporary files beyond its limit",
    script: () =>
      "head -c 100000000 /dev/zero >/dev/shm/large 2>/dev/null || echo limited; " +
      "head -c 100000000 /dev/zero >/dev/null && ulimit -n && ulimit -c",
    holds: /^limited\n64\n0$/m,
    // The limits of files are the engine's there.
    inContainers: { holds: /^limited$/m },
  },
  {
    title: "signals no process of the host",
    script: () => "kill -9 -1 2>/dev/null; echo held",
    holds: /held|^$/,
    // What else runs in the container is still needed.
    inContainers: { script: ({ process }) => `${tries(`kill -0 ${process}`)}; echo held`, breaks: broken },
  },
  {
    title: "is given its variables, and runs no start-up file on the way",
    script: () => "env",
    holds: /^GIVEN=yes$/m,
    breaks: /SANDBOX_VARIABLE|bashrc/,
    inContainers: { skip: "variables are the image's and the engine's" },
  },
];
