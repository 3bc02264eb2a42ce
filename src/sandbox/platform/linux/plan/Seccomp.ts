/**
 * The filter for system calls, as the bytes that the kernel takes: classic BPF, written here since no compiler can be
 * counted on.
 *
 * What stays allowed on purpose: ptrace and process_vm_* (debuggers; a pid namespace holds only processes of our own),
 * NETLINK_ROUTE (getifaddrs; a network namespace holds no interfaces but our own), socketpair of connected kinds; the bit
 * that sets the group, which belongs to ordinary directories (`git init --shared`, `mkdir -m 2775`, `cp -a`) and which no
 * filter can tell from that of a file. The bit that sets the user is refused: outside of the sandbox, whoever ran such a
 * file would be the launcher's user, or root. To unpack an archive with one in it ends with an error for that file.
 *
 * @since 0.1.0
 */
import * as Syscall from "./Syscall.js"

/** One instruction: an operation, where to go on if true and if false (relative to the next one), an operand. */
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
/** The low half of an argument: the kernel takes flags, families and requests from there, whatever lies above. */
const loadArgument = (index: number): Instruction => load(16 + 8 * index)

/** Skips the block unless the accumulator is the value. */
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
/** In `clone` that bit belongs to the signal of the child's end. */
const newTime = 0x80

const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const SOCK_STREAM = 1
const SOCK_SEQPACKET = 5
const socketType = 0xf
const NETLINK_ROUTE = 0
/** Put a character into a terminal's input, as if it were typed. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const x32 = 0x40000000
const setUserId = 0o4000
/** O_CREAT, and the bit of O_TMPFILE that is its own. */
const makesFile = 0o20000100

/**
 * A unix socket is reached through a read-only file system like any other, vsock and bluetooth through a network
 * namespace; the rest of the families is of no use here, and old code in the kernel.
 */
const judgeSocket: ReadonlyArray<Instruction> = [
  loadArgument(0),
  ...when(AF_NETLINK, [loadArgument(2), ...unlessAnyOf([NETLINK_ROUTE], notPermitted)]),
  ...unlessAnyOf([AF_INET, AF_INET6], notPermitted)
]

/** A datagram socket of a pair can still be sent to, or connected with, any other unix socket. */
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

/** Where no file is made, the argument for its mode may be anything. */
const judgeMode = ({ flags, mode }: Syscall.ModeCall): ReadonlyArray<Instruction> => [
  ...(flags === undefined ? [] : [loadArgument(flags), [jumpIfAnyBit, 1, 0, makesFile] as const, allow]),
  ...judgeBits(mode, setUserId)
]

const judgeRequest: ReadonlyArray<Instruction> = [
  loadArgument(1),
  ...when(TIOCSTI, [notPermitted]),
  ...when(TIOCLINUX, [notPermitted]),
  allow
]

const program = (machine: Syscall.Machine): ReadonlyArray<Instruction> => {
  const { clone, ioctl, socket, socketpair, unshare } = Syscall.judgedOn(machine)
  return [
    load(4),
    [jumpIfEqual, 1, 0, Syscall.auditOf(machine)],
    kill,
    load(0),
    [jumpIfAtLeast, 0, 1, x32],
    kill,
    ...Object.values(Syscall.modesOn(machine)).flatMap((call) => when(call.number, judgeMode(call))),
    ...when(ioctl, judgeRequest),
    ...when(clone, judgeBits(0, newNamespaces)),
    ...when(socket, judgeSocket),
    ...when(socketpair, judgePair),
    ...when(unshare, judgeBits(0, newNamespaces | newTime)),
    ...Object.values(Syscall.absent).flatMap((number) => when(number, [notThere])),
    ...Object.values(Syscall.deniedOn(machine)).flatMap((number) => when(number, [notPermitted])),
    allow
  ]
}

/**
 * The filter for a machine, as an array of `struct sock_filter`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (machine: Syscall.Machine): Uint8Array => {
  const instructions = program(machine)
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
