/** The numbers of the system calls that the seccomp filter is about. */

/** An architecture that a filter can be built for, by Node's name (`process.arch`). */
export type Machine = "x64" | "arm64"

/**
 * The values of `seccomp_data.arch`, which the filter compares because other architectures have other system call
 * numbers.
 */
const audit: Readonly<Record<Machine, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** Returns the kernel's number of an architecture (`AUDIT_ARCH_*`). */
export const auditOf = (machine: Machine): number => audit[machine]

/** System calls that always reach outside of the sandbox: mounts, namespaces, keys, the kernel itself. */
const denied = {
  x64: {
    acct: 163,
    add_key: 248,
    bpf: 321,
    chroot: 161,
    create_module: 174,
    delete_module: 176,
    fanotify_init: 300,
    finit_module: 313,
    fsconfig: 431,
    fsmount: 432,
    fsopen: 430,
    fspick: 433,
    init_module: 175,
    ioperm: 173,
    iopl: 172,
    kexec_file_load: 320,
    kexec_load: 246,
    keyctl: 250,
    lookup_dcookie: 212,
    mount: 165,
    mount_setattr: 442,
    move_mount: 429,
    nfsservctl: 180,
    open_by_handle_at: 304,
    open_tree: 428,
    open_tree_attr: 467,
    perf_event_open: 298,
    pivot_root: 155,
    query_module: 178,
    quotactl: 179,
    quotactl_fd: 443,
    reboot: 169,
    request_key: 249,
    setns: 308,
    swapoff: 168,
    swapon: 167,
    syslog: 103,
    umount2: 166,
    uselib: 134,
    userfaultfd: 323,
    vhangup: 153
  },
  arm64: {
    acct: 89,
    add_key: 217,
    bpf: 280,
    chroot: 51,
    delete_module: 106,
    fanotify_init: 262,
    finit_module: 273,
    fsconfig: 431,
    fsmount: 432,
    fsopen: 430,
    fspick: 433,
    init_module: 105,
    kexec_file_load: 294,
    kexec_load: 104,
    keyctl: 219,
    lookup_dcookie: 18,
    mount: 40,
    mount_setattr: 442,
    move_mount: 429,
    nfsservctl: 42,
    open_by_handle_at: 265,
    open_tree: 428,
    open_tree_attr: 467,
    perf_event_open: 241,
    pivot_root: 41,
    quotactl: 60,
    quotactl_fd: 443,
    reboot: 142,
    request_key: 218,
    setns: 268,
    swapoff: 225,
    swapon: 224,
    syslog: 116,
    umount2: 39,
    userfaultfd: 282,
    vhangup: 58
  }
} as const satisfies Readonly<Record<Machine, Readonly<Record<string, number>>>>

/** Returns the system calls that are always denied, by name, with their numbers. */
export const deniedOn = (machine: Machine): Readonly<Record<string, number>> => denied[machine]

/**
 * System calls that are reported as not implemented, which programs have to expect: io_uring bypasses every filter, and
 * a filter can't see the arguments of clone3 and openat2.
 */
export const absent = {
  clone3: 435,
  openat2: 437,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427
} as const

/** System calls whose arguments decide. */
const judged = {
  x64: { clone: 56, fcntl: 72, ioctl: 16, socket: 41, socketpair: 53, unshare: 272 },
  arm64: { clone: 220, fcntl: 25, ioctl: 29, socket: 198, socketpair: 199, unshare: 97 }
} as const

/** Returns the system calls that are denied for some arguments, by name, with their numbers. */
export const judgedOn = (machine: Machine): Readonly<Record<keyof (typeof judged)["x64"], number>> => judged[machine]

/**
 * A system call that sets the mode of a file: the index of the mode argument, and, for a call that need not create a
 * file, the index of the flags that tell whether it does.
 */
export interface ModeCall {
  readonly number: number
  readonly mode: number
  readonly flags?: number
}

const modes = {
  x64: {
    openat: { number: 257, mode: 3, flags: 2 },
    open: { number: 2, mode: 2, flags: 1 },
    creat: { number: 85, mode: 1 },
    chmod: { number: 90, mode: 1 },
    fchmod: { number: 91, mode: 1 },
    fchmodat: { number: 268, mode: 2 },
    fchmodat2: { number: 452, mode: 2 },
    mknod: { number: 133, mode: 1 },
    mknodat: { number: 259, mode: 2 }
  },
  arm64: {
    openat: { number: 56, mode: 3, flags: 2 },
    fchmod: { number: 52, mode: 1 },
    fchmodat: { number: 53, mode: 2 },
    fchmodat2: { number: 452, mode: 2 },
    mknodat: { number: 33, mode: 2 }
  }
} as const satisfies Readonly<Record<Machine, Readonly<Record<string, ModeCall>>>>

/** Returns the system calls that set the mode of a file, by name; the most frequent come first. */
export const modesOn = (machine: Machine): Readonly<Record<string, ModeCall>> => modes[machine]
