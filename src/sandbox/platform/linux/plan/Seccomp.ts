/**
 * Builds the seccomp filter in the kernel's format, classic BPF; it is written by hand because no compiler can be
 * expected to be installed.
 *
 * Allowed on purpose: ptrace and process_vm_* (for debuggers; the PID namespace holds only the sandbox's own
 * processes), NETLINK_ROUTE (for getifaddrs; the network namespace holds only the sandbox's own interfaces), connected
 * kinds of socketpair, and, except for root, the set-group-ID bit, which ordinary directories have (`git init --shared`,
 * `mkdir -m 2775`, `cp -a`) and which no filter can tell from that of a file. The set-user-ID bit is refused: whoever ran
 * such a file outside of the sandbox would become the launcher's user, or root; and root the bit for the group too.
 * Unpacking an archive with such a file therefore fails for that file. Leases are refused: the kernel stops whoever opens
 * the file outside of the sandbox until the lease is given back.
 */
import * as Syscall from "./Syscall.js"

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
 * Loads the low half of an argument, from which the kernel takes flags, families and requests, whatever the high half
 * is.
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
/** CLONE_NEWTIME: in `clone`, this bit belongs to the signal that is sent when the child ends. */
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
/** F_SETLEASE, F_NOTIFY and F_SETDELEG: the kernel signals, or stops, by what others do with a file or directory. */
const leases = [1024, 1026, 1040]
/** O_CREAT, and the bit that is O_TMPFILE's alone. */
const makesFile = 0o20000100

/**
 * Allows IPv4, IPv6 and NETLINK_ROUTE sockets, and `others`. Unix sockets can be reached through a read-only file system:
 * abstract ones can't, but a filter sees no address, and so can't tell them apart. Vsock and bluetooth can be reached through
 * a network namespace; the other families are of no use here, and are old code in the kernel.
 */
const judgeSocket = (others: ReadonlyArray<number>): ReadonlyArray<Instruction> => [
  loadArgument(0),
  ...when(AF_NETLINK, [loadArgument(2), ...unlessAnyOf([NETLINK_ROUTE], notPermitted)]),
  ...unlessAnyOf([AF_INET, AF_INET6, ...others], notPermitted)
]

/**
 * Allows connected kinds of unix socket pairs only: a datagram socket of a pair could still send to any other unix
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

/** Refuses bits in a mode; where no file is made, the mode argument is ignored. */
const judgeMode = ({ flags, mode }: Syscall.ModeCall, forbidden: number): ReadonlyArray<Instruction> => [
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

/** The options of `make`. */
export interface Options {
  /** True where the commands run as root, whose files may set the group no more than the user. */
  readonly isRoot: boolean
  /** True allows unix sockets. */
  readonly unixSockets: boolean
}

const program = (machine: Syscall.Machine, { isRoot, unixSockets }: Options): ReadonlyArray<Instruction> => {
  const { clone, fcntl, ioctl, socket, socketpair, unshare } = Syscall.judgedOn(machine)
  const forbidden = isRoot ? setUserId | setGroupId : setUserId
  return [
    load(4),
    [jumpIfEqual, 1, 0, Syscall.auditOf(machine)],
    kill,
    load(0),
    [jumpIfAtLeast, 0, 1, x32],
    kill,
    ...Object.values(Syscall.modesOn(machine)).flatMap((call) => when(call.number, judgeMode(call, forbidden))),
    ...when(fcntl, judgeFileCommand),
    ...when(ioctl, judgeRequest),
    ...when(clone, judgeBits(0, newNamespaces)),
    ...when(socket, judgeSocket(unixSockets ? [AF_UNIX] : [])),
    ...when(socketpair, unixSockets ? [loadArgument(0), ...unlessAnyOf([AF_UNIX], notPermitted)] : judgePair),
    ...when(unshare, judgeBits(0, newNamespaces | newTime)),
    ...Object.values(Syscall.absent).flatMap((number) => when(number, [notThere])),
    ...Object.values(Syscall.deniedOn(machine)).flatMap((number) => when(number, [notPermitted])),
    allow
  ]
}

/** Builds the filter for an architecture, as an array of `struct sock_filter`. */
export const make = (machine: Syscall.Machine, options: Options): Uint8Array => {
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
