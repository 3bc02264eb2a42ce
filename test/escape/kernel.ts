/** The kernel's own ways out: /proc, mounts, namespaces, devices, keys, terminals. */
import * as Probe from "../../src/sandbox/platform/linux/check/Probe.js"
import * as Seccomp from "../../src/sandbox/platform/linux/plan/Seccomp.js"
import type { Attack, Families } from "../support/escape/Attack.js"

const machine = Probe.machine() ?? "x64"
const denied: Readonly<Record<string, number>> = Seccomp.denied[machine]
const judged = Seccomp.judged[machine]

const proc: ReadonlyArray<Attack> = [
  ...[
    "/proc/self/root",
    "/proc/1/root",
    "/proc/self/cwd/..",
    "/proc/self/task/self/root",
    "/proc/thread-self/root"
  ].map(
    (root): Attack => ({
      title: root,
      says: /Permission denied|No such file/,
      script: ({ home, project }) =>
        `cat ${root}${root.endsWith("..") ? "" : project}/.env ${root}${home}/.ssh/id_rsa; ls ${root}${home}/.ssh`
    })
  ),
  {
    title: "roots and directories of all processes",
    says: /Permission denied/,
    script: ({ home, project }) =>
      `for p in /proc/[0-9]*; do cat $p/root${home}/.ssh/id_rsa $p/root${project}/.env $p/cwd/.env; done`
  },
  {
    title: "only processes of the sandbox are to be seen",
    script:
      "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done | grep -E '[v]itest|[c]leaner' && echo BREACH; true"
  },
  {
    title: "no descriptor leads to a directory or file outside",
    script: ({ project, temporary }) =>
      `for fd in /proc/[0-9]*/fd/*; do readlink $fd; done 2>/dev/null | grep '^/' | grep -vE '^(${project}|/proc|/dev/null|${temporary}/synapse-[0-9]*/session)' && echo BREACH; true`
  },
  ...[
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/proc/sys/fs/binfmt_misc/register",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/user/max_user_namespaces",
    "/proc/1/oom_score_adj",
    "/sys/power/state",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/kernel/mm/transparent_hugepage/enabled"
  ].map(
    (path): Attack => ({
      title: `writing to ${path}`,
      says: /Read-only|denied|No such file|not permitted/,
      script:
        path === "/proc/1/oom_score_adj"
          ? `echo -1000 > ${path} && echo BREACH`
          : `echo "$(cat ${path})" > ${path} && echo BREACH`
    })
  ),
  {
    title: "kernel memory and log",
    says: /denied|not permitted|No such/,
    script:
      "for f in /proc/kcore /dev/mem /dev/kmem /dev/port /dev/kmsg /proc/kmsg; do head -c1 $f && echo BREACH; done; dmesg | grep -q . && echo BREACH"
  },
  {
    title: "making a namespace anew through uid_map",
    says: /denied|not permitted|Read-only/i,
    script: "echo '0 0 1' > /proc/self/uid_map && echo BREACH; echo deny > /proc/self/setgroups && echo BREACH"
  }
]

/** Makes a call, and says BREACH unless it fails for lack of permission, or of the call. */
const call = (title: string, number: number | undefined, ...args: ReadonlyArray<number | string>): Attack => ({
  title: `the call ${title}`,
  needs: ["perl"],
  not: number === undefined ? "this machine has no such call" : undefined,
  says: /errno (1|38)\n/,
  script: `perl -e '$! = 0; my $r = syscall(${[number, ...args].join(", ")}); print $r == -1 ? "errno " . ($! + 0) . "\\n" : "BREACH $r\\n"'`
})

const text = (value: string) => `my $x${value.length}${value.replaceAll(/\W/g, "")} = "${value}\\0"`

const mounts: ReadonlyArray<Attack> = [
  {
    title: "umount of a mask",
    needs: ["umount"],
    says: /not permitted|must be superuser|denied/,
    script: ({ home }) => `umount .env; umount -l ${home}/.ssh; umount -R /; cat .env ${home}/.ssh/id_rsa`
  },
  {
    title: "remount and bind",
    needs: ["mount"],
    says: /not permitted|must be superuser|denied|only root/,
    script: ({ outside }) =>
      `mount -o remount,rw /; mount -o remount,bind,rw ${outside}; mount --bind / /mnt; mount -t tmpfs x /mnt; mount -t proc x /mnt; echo x > ${outside}/file`
  },
  {
    title: "user namespaces",
    needs: ["unshare", "umount"],
    says: /not permitted|No space|denied/,
    script:
      "unshare -Ur cat .env; unshare -Urm umount .env; unshare -m true && echo BREACH; unshare -n true && echo BREACH"
  },
  {
    title: "a sandbox in the sandbox",
    needs: ["bwrap"],
    says: /./,
    script: "bwrap --bind / / cat .env; bwrap --unshare-user --bind / / cat .env"
  },
  {
    title: "namespaces of others",
    needs: ["nsenter"],
    says: /not permitted|denied|No such/,
    script: ({ home }) =>
      `nsenter -t 1 -m cat ${home}/.ssh/id_rsa; nsenter -t 1 -a true && echo BREACH; nsenter -t 2 -U true && echo BREACH`
  },
  {
    title: "chroot and pivot_root",
    needs: ["chroot", "pivot_root"],
    says: /chroot: .*(?:not permitted|denied)[\s\S]*pivot_root: .*(?:not permitted|denied)/,
    script: ({ project }) =>
      `mkdir -p r; chroot ${project} / && echo BREACH; chroot / true && echo BREACH; pivot_root . r && echo BREACH`
  },
  ...Object.entries({
    "for reading": "fcntl.F_SETLEASE, fcntl.F_RDLCK",
    "for writing": "fcntl.F_SETLEASE, fcntl.F_WRLCK",
    "with more bits than the kernel reads": "fcntl.F_SETLEASE | (1 << 40), fcntl.F_WRLCK"
  }).map(
    ([title, words]): Attack => ({
      title: `a lease ${title}, on a file of one's own or in a place that is only read`,
      needs: ["python3"],
      says: /^-1 -1$/m,
      script: ({ outside }) => `python3 - <<'PY'
import ctypes, fcntl, os
l = ctypes.CDLL(None)
def lease(path, command, kind):
  fd = os.open(path, os.O_RDONLY)
  return l.syscall(ctypes.c_long(${process.arch === "arm64" ? 25 : 72}), ctypes.c_long(fd), ctypes.c_long(command), ctypes.c_long(kind))
print(lease("README", ${words}), lease("${outside}/file", ${words}))
PY`
    })
  ),
  {
    title: "set-uid programs win nothing",
    script: "grep -q 'NoNewPrivs:.1' /proc/self/status || echo BREACH"
  },
  {
    title: "su",
    needs: ["su"],
    says: /./,
    script: ({ outside }) => `su -c 'echo x > ${outside}/file' </dev/null`
  },
  {
    title: "sudo",
    needs: ["sudo"],
    says: /./,
    script: ({ outside }) => `sudo -n sh -c 'echo x > ${outside}/file'`
  },
  {
    title: "capabilities",
    script:
      "grep -q 'CapEff:.0000000000000000' /proc/self/status || echo BREACH; grep -q 'CapBnd:.0000000000000000' /proc/self/status || echo BREACH"
  },
  call("mount", denied["mount"], text("/"), text("/mnt"), 0, 4096, 0),
  call("umount2", denied["umount2"], text("/proc"), 2),
  call("open_tree", denied["open_tree"], -100, text("/"), 1),
  call("fsopen", denied["fsopen"], text("tmpfs"), 0),
  call("fsmount", denied["fsmount"], 3, 0, 0),
  call("fsconfig", denied["fsconfig"], 3, 6, 0, 0, 0),
  call("fspick", denied["fspick"], -100, text("/"), 0),
  call("move_mount", denied["move_mount"], -100, text("/"), -100, text("/mnt"), 0),
  call("mount_setattr", denied["mount_setattr"], -100, text("/"), 0, "my $attr = pack(q(Q4), 0, 1, 0, 0)", 32),
  call("pivot_root", denied["pivot_root"], text("."), text(".")),
  call("chroot", denied["chroot"], text("/")),
  call("setns", denied["setns"], 0, 0),
  call("unshare of a user namespace", judged.unshare, 0x10000000),
  call("unshare of a mount namespace", judged.unshare, 0x20000),
  call("clone into a user namespace", judged.clone, 0x10000011, 0, 0, 0, 0),
  call("clone3", Seccomp.absent.clone3, 0, 0),
  call("io_uring_setup", Seccomp.absent.io_uring_setup, 1, "my $ring = qq(\\0) x 120"),
  call("io_setup", Seccomp.ioSetup[machine], 1, "my $context = pack(q(Q), 0)"),
  {
    title: "the call io_setup by the numbers of x32",
    needs: ["perl"],
    not: machine === "x64" ? undefined : "this machine has no such numbers",
    says: /Bad system call/,
    script: `perl -e 'my $c = pack("Q", 0); syscall(0x40000000 + 543, 1, $c); print "BR", "EACH\\n"'`
  },
  {
    title: "the call io_setup by the entry of 32 bits",
    needs: ["python3"],
    not: machine === "x64" ? undefined : "this machine has no such entry",
    says: /Bad system call|Segmentation fault/,
    script: `python3 - <<'PY'
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40)
at = ctypes.addressof(ctypes.c_char.from_buffer(page))
# push rbx; mov eax, 245; mov ebx, 1; mov ecx, page + 64; int 0x80; pop rbx; ret
code = bytes.fromhex("53b8f5000000bb01000000b9") + (at + 64).to_bytes(4, "little") + bytes.fromhex("cd805bc3")
page[:len(code)] = code
print("BR" + "EACH", ctypes.CFUNCTYPE(ctypes.c_int)(at)())
PY`
  },
  call("open_by_handle_at", denied["open_by_handle_at"], -100, "my $handle = pack(q(IiQ), 8, 1, 2)", 0),
  call("bpf", denied["bpf"], 0, "my $bpf = qq(\\0) x 128", 128),
  call("perf_event_open", denied["perf_event_open"], "my $perf = qq(\\0) x 128", 0, -1, -1, 0),
  call("userfaultfd", denied["userfaultfd"], 0),
  call("keyctl: the session's keyring", denied["keyctl"], 0, -3, 0),
  call("keyctl: reading the user's keyring", denied["keyctl"], 11, -4, "my $keys = qq(\\0) x 512", 512),
  call("add_key", denied["add_key"], text("user"), text("name"), text("value"), 5, -3),
  call("request_key", denied["request_key"], text("user"), text("name"), 0, -3),
  call("init_module", denied["init_module"], 0, 0, text("")),
  call("kexec_load", denied["kexec_load"], 0, 0, 0, 0),
  call("reboot", denied["reboot"], 0xfee1dead, 672274793, 0, 0),
  call("syslog", denied["syslog"], 3, "my $log = qq(\\0) x 512", 512),
  call("swapon", denied["swapon"], text("README"), 0),
  call("fcntl F_SETLEASE", judged.fcntl, "do { open(F, q(>), q(leased)); fileno(F) }", 1024, 1),
  call("fcntl F_SETLEASE with more bits", judged.fcntl, 0, "0x100000400", 0),
  call("fcntl F_NOTIFY", judged.fcntl, "do { open(F, q(<), q(.)); fileno(F) }", 1026, 4),
  call("fcntl F_SETDELEG", judged.fcntl, "do { open(F, q(<), q(.)); fileno(F) }", 1040, "my $deleg = qq(\\0) x 16"),
  call("ioctl TIOCSTI", judged.ioctl, 0, 0x5412, text("x")),
  call("ioctl TIOCSTI with more bits", judged.ioctl, 0, "0x100005412", text("x")),
  call("ioctl TIOCLINUX", judged.ioctl, 0, 0x541c, text("x"))
]

const devices: ReadonlyArray<Attack> = [
  {
    title: "mknod",
    says: /not permitted|Read-only/,
    script:
      "mknod d b 8 0 && echo BREACH; mknod m c 1 1 && echo BREACH; mknod /dev/x c 1 3 && echo BREACH; test -b d && cat d"
  },
  {
    title: "disks",
    script:
      "for d in sda sda1 vda vda1 nvme0n1 loop0 loop-control fuse kvm net/tun uinput input/event0 dri/card0 mapper/control; do test -e /dev/$d && echo BREACH $d; done; true"
  },
  {
    title: "only the usual devices",
    script:
      "ls /dev | grep -vxE 'console|core|fd|full|null|ptmx|pts|random|shm|stderr|stdin|stdout|tty|urandom|zero' && echo BREACH; true"
  },
  {
    title: "the terminal",
    says: /No such device|denied/,
    script: "echo x > /dev/tty && echo BREACH; ls /dev/pts | grep '[0-9]' && echo BREACH; true"
  },
  {
    title: "files in /dev",
    says: /Read-only/,
    script: "echo x > /dev/new && echo BREACH; rm /dev/null; mkdir /dev/d && echo BREACH; true"
  }
]

export const kernel: Families = {
  "/proc and /sys": proc,
  "mounts, namespaces, keys and system calls": mounts,
  "devices and terminals": devices
}
