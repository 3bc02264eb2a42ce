/**
 * Builds the seccomp filter in the kernel's format, classic BPF. It is written by hand because no compiler can be
 * expected to be installed.
 *
 * Allowed on purpose: ptrace and process_vm_* (for debuggers; the PID namespace holds only the sandbox's own
 * processes), NETLINK_ROUTE (for getifaddrs; the network namespace holds only the sandbox's own interfaces), and
 * connected kinds of socketpair. Except for root, the set-group-ID bit is allowed too: ordinary directories have it
 * (`git init --shared`, `mkdir -m 2775`, `cp -a`), and no filter can tell a directory from a file.
 *
 * The set-user-ID bit is refused: whoever ran such a file outside of the sandbox would become the launcher's user, or
 * root. For root, the set-group-ID bit is refused for the same reason. So unpacking an archive with such a file fails
 * for that file. Leases are refused, because the kernel stops anyone who opens the file outside of the sandbox until
 * the lease is returned.
 */

/** An architecture that a filter can be built for, by Node's name (`process.arch`). */
export type Machine = "x64" | "arm64"

/**
 * The values of `seccomp_data.arch`. The filter checks it because other architectures have other system call numbers.
 */
const audit: Readonly<Record<Machine, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }

/**
 * System calls that always reach outside of the sandbox, such as mounts, namespaces and keys, with their numbers on x64
 * and arm64.
 */
const reaching: Readonly<Record<string, readonly [x64: number, arm64?: number]>> = {
  acct: [163, 89],
  add_key: [248, 217],
  bpf: [321, 280],
  chroot: [161, 51],
  create_module: [174],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  ioperm: [173],
  iopl: [172],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  perf_event_open: [298, 241],
  pivot_root: [155, 41],
  query_module: [178],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  setns: [308, 268],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  uselib: [134],
  userfaultfd: [323, 282],
  vhangup: [153, 58]
}

const reachingOn = (machine: Machine): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(reaching).flatMap(([name, [x64, arm64]]) => {
      const number = machine === "x64" ? x64 : arm64
      return number === undefined ? [] : [[name, number]]
    })
  )

/** The system calls that are always denied, by name, with their numbers. */
export const denied: Readonly<Record<Machine, Readonly<Record<string, number>>>> = {
  x64: reachingOn("x64"),
  arm64: reachingOn("arm64")
}

/**
 * System calls that are reported as not implemented, which programs must expect. io_uring bypasses every filter, and a
 * filter can't see the arguments of clone3 and openat2.
 */
export const absent = {
  clone3: 435,
  openat2: 437,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427
} as const

/**
 * The call that makes an asynchronous I/O context. The whole machine has a limited number of them, and programs work
 * without.
 */
export const ioSetup = { x64: 206, arm64: 0 } as const

/** System calls whose arguments decide. */
export const judged = {
  x64: { clone: 56, fcntl: 72, ioctl: 16, socket: 41, socketpair: 53, unshare: 272 },
  arm64: { clone: 220, fcntl: 25, ioctl: 29, socket: 198, socketpair: 199, unshare: 97 }
} as const

/**
 * A system call that sets a file's mode, with the index of the mode argument. If the call need not create a file,
 * `flags` is the index of the argument that says whether it does.
 */
export interface ModeCall {
  readonly number: number
  readonly mode: number
  readonly flags?: number
}

/** System calls that set the mode of a file; the most frequent come first. */
export const modes = {
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

/** One BPF instruction: an operation, the relative jumps if it is true and if it is false, and an operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number]

const loadWord = 0x20
const jumpIfEqual = 0x15
const jumpIfAnyBit = 0x45
const jumpIfAtLeast = 0x35
const andWith = 0x54
const answer = 0x06

const allow: Instruction = [answer, 0, 0, 0x7fff0000]
const kill: Instruction = [answer, 0, 0, 0x80000000]
const fail = (errno: number): Instruction => [answer, 0, 0, 0x00050000 | errno]

const notPermitted = fail(1)
const notThere = fail(38)

const load = (offset: number): Instruction => [loadWord, 0, 0, offset]
/**
 * Loads the low half of an argument. The kernel reads flags, families and requests from it, whatever the high half is.
 */
const loadArgument = (index: number): Instruction => load(16 + 8 * index)

/** Runs the block if the accumulator has the value; skips it otherwise. */
const when = (value: number, block: ReadonlyArray<Instruction>): ReadonlyArray<Instruction> => [
  [jumpIfEqual, 0, block.length, value],
  ...block
]

const unlessAnyOf = (values: ReadonlyArray<number>, verdict: Instruction): ReadonlyArray<Instruction> => [
  ...values.flatMap((value) => when(value, [allow])),
  verdict
]

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const newNamespaces = 0x7e020000
/** CLONE_NEWTIME. In `clone`, this bit belongs to the signal that is sent when the child ends. */
const newTime = 0x80

const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const SOCK_STREAM = 1
const SOCK_SEQPACKET = 5
const socketType = 0xf
const NETLINK_ROUTE = 0
/** Requests that put a character into a terminal's input, as if it were typed. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const x32 = 0x40000000
const setUserId = 0o4000
const setGroupId = 0o2000
/**
 * F_SETLEASE, F_NOTIFY and F_SETDELEG: they make the kernel signal or stop processes when others use a file or
 * directory.
 */
const leases = [1024, 1026, 1040]
/** O_CREAT, and the bit that only O_TMPFILE has. */
const makesFile = 0o20000100

/**
 * Allows IPv4, IPv6 and NETLINK_ROUTE sockets, and `others`. Unix sockets are refused because they can be reached
 * through a read-only file system. Abstract ones can't be, but a filter sees no address to tell them apart. Vsock and
 * bluetooth can be reached through a network namespace. The other families are useless here, and old code in the
 * kernel.
 */
const judgeSocket = (others: ReadonlyArray<number>): ReadonlyArray<Instruction> => [
  loadArgument(0),
  ...when(AF_NETLINK, [loadArgument(2), ...unlessAnyOf([NETLINK_ROUTE], notPermitted)]),
  ...unlessAnyOf([AF_INET, AF_INET6, ...others], notPermitted)
]

/**
 * Allows only connected kinds of unix socket pairs: a datagram socket of a pair could still send to any other unix
 * socket.
 */
const judgePair: ReadonlyArray<Instruction> = [
  loadArgument(0),
  ...when(AF_UNIX, [
    loadArgument(1),
    [andWith, 0, 0, socketType],
    ...unlessAnyOf([SOCK_STREAM, SOCK_SEQPACKET], notPermitted)
  ]),
  notPermitted
]

const judgeBits = (argument: number, forbidden: number): ReadonlyArray<Instruction> => [
  loadArgument(argument),
  [jumpIfAnyBit, 0, 1, forbidden],
  notPermitted,
  allow
]

/** Refuses bits in a mode. If no file is created, the mode argument is ignored. */
const judgeMode = ({ flags, mode }: ModeCall, forbidden: number): ReadonlyArray<Instruction> => [
  ...(flags === undefined ? [] : [loadArgument(flags), [jumpIfAnyBit, 1, 0, makesFile] as const, allow]),
  ...judgeBits(mode, forbidden)
]

const judgeFileCommand: ReadonlyArray<Instruction> = [
  loadArgument(1),
  ...leases.flatMap((command) => when(command, [notPermitted])),
  allow
]

const judgeRequest: ReadonlyArray<Instruction> = [
  loadArgument(1),
  ...when(TIOCSTI, [notPermitted]),
  ...when(TIOCLINUX, [notPermitted]),
  allow
]

export interface Options {
  /** True if commands run as root. Then files may not set the group either. */
  readonly isRoot: boolean
  /** True allows unix sockets. */
  readonly unixSockets: boolean
}

const program = (machine: Machine, { isRoot, unixSockets }: Options): ReadonlyArray<Instruction> => {
  const { clone, fcntl, ioctl, socket, socketpair, unshare } = judged[machine]
  const forbidden = isRoot ? setUserId | setGroupId : setUserId
  return [
    load(4),
    [jumpIfEqual, 1, 0, audit[machine]],
    kill,
    load(0),
    [jumpIfAtLeast, 0, 1, x32],
    kill,
    ...Object.values<ModeCall>(modes[machine]).flatMap((call) => when(call.number, judgeMode(call, forbidden))),
    ...when(fcntl, judgeFileCommand),
    ...when(ioctl, judgeRequest),
    ...when(clone, judgeBits(0, newNamespaces)),
    ...when(socket, judgeSocket(unixSockets ? [AF_UNIX] : [])),
    ...when(socketpair, unixSockets ? [loadArgument(0), ...unlessAnyOf([AF_UNIX], notPermitted)] : judgePair),
    ...when(unshare, judgeBits(0, newNamespaces | newTime)),
    ...[...Object.values(absent), ioSetup[machine]].flatMap((number) => when(number, [notThere])),
    ...Object.values(denied[machine]).flatMap((number) => when(number, [notPermitted])),
    allow
  ]
}

/** Builds the filter for an architecture, as an array of `struct sock_filter`. */
export const make = (machine: Machine, options: Options): Uint8Array => {
  const instructions = program(machine, options)
  const bytes = new Uint8Array(instructions.length * 8)
  const view = new DataView(bytes.buffer)
  instructions.forEach(([code, ifTrue, ifFalse, operand], index) => {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, ifTrue)
    view.setUint8(index * 8 + 3, ifFalse)
    view.setUint32(index * 8 + 4, operand >>> 0, true)
  })
  return bytes
}
