/** Accepts calls from the shell and assigns a slot to each. */
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Path from "node:path"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { quote } from "../../bash/Quote.js"
import type { Described } from "../../command/CommandHandler.js"
import * as CommandName from "../../command/CommandName.js"
import * as Attempt from "../../domain/Attempt.js"
import * as Fifo from "../../session/Fifo.js"
import type { SessionDirectory } from "../../session/SessionDirectory.js"
import type { CallerFacts, Calls, OpenBridge, ShellBridge } from "../../session/ShellBridge.js"
import type { BridgeCommands, Callable } from "./BridgeCall.js"
import { BridgeCall } from "./BridgeCall.js"
import { isUnused } from "./Fifo.js"
import * as Stub from "./Stub.js"

/** The most characters of a text that are searched. The rest is probably the content of a file. */
const longest = 256 * 1024

/** The most places in a text that are checked. */
const mostPlaces = 2000

/** Finds words in a text that begin with one of the prefixes and may name a command. Returns at most `most` words. */
export const within = (text: string, prefixes: Iterable<string>, most: number): ReadonlySet<string> => {
  const names = new Set<string>()
  const head = text.slice(0, longest)
  let places = 0
  for (const prefix of prefixes) {
    for (let at = head.indexOf(prefix); at >= 0; at = head.indexOf(prefix, at + 1)) {
      if (names.size >= most || ++places > mostPlaces) return names
      // No name begins after one of these characters.
      if (at > 0 && /[\p{L}\p{M}\p{N}_.:+@/\\-]/u.test(text[at - 1] as string)) continue
      // The rest of a name after its prefix. With a `/` after it, it is a path.
      const rest = /[\p{L}\p{M}\p{N}_.:+@-]+(?![/\p{L}\p{M}\p{N}_.:+@-])/uy
      rest.lastIndex = at + prefix.length
      const name = prefix + (rest.exec(text)?.[0] ?? "")
      if (name !== prefix && canBeFile(name)) names.add(name)
    }
  }
  return names
}

/** Tests whether a program can have this name: a valid command name without a `/`. */
const canBeFile = (name: string): boolean => name.length <= 255 && CommandName.problemOf(name) === undefined

/** The most names from command texts. They stay for later commands, and the oldest are dropped. */
const mostNamed = 200

/** The most names from handlers of prefixes, since they are all made in one turn of the event loop. */
const mostKnown = 1000

/** The directory of one session that holds a program for each command. */
class Programs {
  /** The commands as last reported by the registry. */
  private callable: Callable | undefined
  private prefixes: ReadonlySet<string> = new Set()
  private exactNames: ReadonlySet<string> = new Set()
  /** The commands that each handler of a prefix last reported. */
  private known: ReadonlyArray<ReadonlyArray<Described>> = []
  private knownNames: ReadonlySet<string> = new Set()
  /** The names from command texts, the last used one last. */
  private readonly named = new Set<string>()
  private next: NodeJS.Immediate | undefined
  private readonly fd: number
  /** The directory by its descriptor, if the system can, since a command may put a link in its place. */
  private readonly place: string

  /** Creates the directory, with a program for each command that has its own name. Throws file system errors. */
  constructor(
    directory: string,
    private readonly commands: BridgeCommands
  ) {
    Fs.mkdirSync(directory, { mode: 0o700 })
    this.fd = Fs.openSync(directory, Fs.constants.O_RDONLY | Fs.constants.O_DIRECTORY | Fs.constants.O_NOFOLLOW)
    const byDescriptor = `/proc/self/fd/${this.fd}`
    this.place = Fs.existsSync(byDescriptor) ? byDescriptor : directory
    this.refresh()
  }

  /**
   * Makes programs for new commands and for commands that the text names, at once. Programs for the other commands of
   * prefixes follow in the background.
   */
  offer(text: string): void {
    this.refresh()
    for (const name of within(text, this.prefixes, mostNamed)) this.addNamed(name)
    // Everything known at the last command must be there for this one.
    if (this.next !== undefined) this.setKnown()
    this.next = setImmediate(this.setKnown)
  }

  close(): void {
    clearImmediate(this.next)
    Fs.closeSync(this.fd)
  }

  private refresh(): void {
    const callable = this.commands.callable()
    if (callable === this.callable) return
    this.callable = callable
    this.prefixes = prefixesOf(callable)
    const before = this.exactNames
    this.exactNames = new Set(callable.names.filter((name) => !name.includes("/")))
    this.change(before, this.exactNames)
  }

  private readonly setKnown = (): void => {
    clearImmediate(this.next)
    this.next = undefined
    const { prefixed } = this.commands.callable()
    const known = prefixed.map(knownOf)
    if (known.length === this.known.length && known.every((commands, at) => commands === this.known[at])) return
    this.known = known
    const names = prefixed.flatMap(({ name: pattern }, at) =>
      (known[at] ?? []).map(({ name }) => name).filter((name) => isUnder(pattern.slice(0, -1), name))
    )
    const before = this.knownNames
    this.knownNames = new Set(names.slice(0, mostKnown))
    this.change(before, this.knownNames)
  }

  private addNamed(name: string): void {
    const isThere = this.knownNames.has(name) || this.named.delete(name)
    this.named.add(name)
    if (!isThere) this.add(name)
    if (this.named.size <= mostNamed) return
    const [oldest = name] = this.named
    this.named.delete(oldest)
    this.drop(oldest)
  }

  private change(before: ReadonlySet<string>, now: ReadonlySet<string>): void {
    for (const name of now) if (!before.has(name)) this.add(name)
    for (const name of before) this.drop(name)
  }

  /** Makes a link to the one program. A hard link is five times faster, but not every file system allows it. */
  private add(name: string): void {
    const path = `${this.place}/${name}`
    const program = `../${Stub.names.program}`
    if (isMade(() => Fs.linkSync(`${this.place}/${program}`, path))) return
    // If this fails too, the disk is full or a command has deleted the directory. The shell still finds the command.
    isMade(() => Fs.symlinkSync(program, path))
  }

  /** Removes a program, unless a command or a text still uses its name. */
  private drop(name: string): void {
    if (this.exactNames.has(name) || this.knownNames.has(name) || this.named.has(name)) return
    // A command has removed it, or has put a directory in its place.
    Attempt.ignore(() => Fs.unlinkSync(`${this.place}/${name}`))
  }
}

/** Makes a link. Returns whether the name exists now. */
const isMade = (link: () => void): boolean => {
  try {
    link()
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST"
  }
}

/** Tests whether a handler's name may become a program. Without the prefix, it would hide a program of the system. */
const isUnder = (prefix: string, name: unknown): boolean =>
  typeof name === "string" && name.length > prefix.length && name.startsWith(prefix) && canBeFile(name)

/** Returns the prefixes of all names that are Synapse's or reserved. */
const prefixesOf = ({ prefixed }: Callable): ReadonlySet<string> =>
  new Set([...CommandName.reservedPrefixes, ...prefixed.map(({ name }) => name.slice(0, -1))])

const nothing: ReadonlyArray<Described> = []

/** Returns what a handler of a prefix reports; nothing if it reports nothing or throws. */
const knownOf = ({ known }: Described): ReadonlyArray<Described> => Attempt.orElse(() => known?.() ?? nothing, nothing)

/** The most reads at a time. A pipe holds no more, unless somebody keeps filling it. */
const mostReads = 256

/** Milliseconds between taking a ticket and the call. After that, the ticket counts as lost. */
const patience = 2000

/** Offers free slots as tickets, and replaces lost tickets. */
class Tickets {
  private readonly fd: number
  private readonly buffer = Buffer.alloc(4096)
  /** When each ticket was first missed. */
  private readonly missed = new Map<string, number>()

  constructor(path: string) {
    this.fd = Fifo.openBoth(path)
  }

  /** True if the FIFO was deleted. */
  get lost(): boolean {
    return Fifo.look(this.fd).nlink === 0n
  }

  give(slots: string): void {
    for (const slot of slots) this.missed.delete(slot)
    this.write(slots)
  }

  /** Makes sure that exactly the free slots have a ticket. Returns whether any ticket is left right now. */
  check(free: ReadonlyArray<string>, now = performance.now()): boolean {
    const there = this.readAll()
    const kept: Array<string> = []
    for (const slot of free) {
      const since = this.missed.get(slot) ?? now
      if (there.has(slot) || now - since >= patience) {
        kept.push(slot)
        this.missed.delete(slot)
      } else this.missed.set(slot, since)
    }
    for (const slot of this.missed.keys()) if (!free.includes(slot)) this.missed.delete(slot)
    if (kept.length > 0) this.write(kept.join(""))
    return kept.length > 0
  }

  close(): void {
    Fs.closeSync(this.fd)
  }

  private write(slots: string): void {
    // Fails if a command has filled the FIFO. `check` empties it, and replaces what was lost.
    Attempt.ignore(() => Fs.writeSync(this.fd, slots))
  }

  private readAll(): Set<string> {
    const found = new Set<string>()
    for (let reads = 0; reads < mostReads; reads++) {
      let count: number
      try {
        count = Fs.readSync(this.fd, this.buffer)
      } catch {
        // EAGAIN: the FIFO is empty.
        return found
      }
      for (const slot of this.buffer.toString("latin1", 0, count)) found.add(slot)
    }
    return found
  }
}

/** The slots' names, one byte each. */
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/** Milliseconds between two checks of the slots. */
const lookEvery = 500

/** The most calls started at once. Only a misbehaving command sends a longer chunk, and reading pauses after it. */
const mostCalls = alphabet.length
const floodEvery = 50

/** The most bytes of incomplete requests. */
const budget = 16 * 1024 ** 2

/** How many slots are made at once after the first. Most sessions make no call. */
const batch = 4

/** Returns the FIFOs that must exist before the first call. */
const fifos = (directory: string): ReadonlyArray<string> => [
  Path.join(directory, Stub.names.tickets),
  Path.join(directory, Stub.names.calls),
  ...slotFifos(directory, 0, 1)
]

const slotFifos = (directory: string, from: number, to = from + batch): ReadonlyArray<string> =>
  [...alphabet.slice(from, to)].flatMap((slot) =>
    Stub.channels.map((channel) => Stub.channelPath(directory, slot, channel))
  )

class CallServer implements OpenBridge {
  private readonly tickets: Tickets
  private readonly callsFd: number
  private readonly calls: Net.Socket
  private readonly running = new Map<string, BridgeCall>()
  /** Slots whose FIFOs are still held by processes that a caller has left behind. */
  private readonly soiled = new Set<string>()
  private readonly budget = { left: budget }
  private readonly looking: NodeJS.Timeout
  private slots = alphabet.slice(0, 1)
  /** True if calls can't be answered any more. */
  private broken = false
  /** Resolves when more slots are made; undefined if none are being made. */
  private making: Promise<void> | undefined
  private closed = false
  private readonly programs: Programs

  constructor(
    private readonly directory: SessionDirectory,
    private readonly commands: BridgeCommands,
    private readonly around: () => CallerFacts
  ) {
    const { path } = directory
    this.tickets = new Tickets(Path.join(path, Stub.names.tickets))
    this.callsFd = Fifo.openBoth(Path.join(path, Stub.names.calls))
    this.calls = new Net.Socket({ fd: this.callsFd, readable: true, writable: false }).unref()
    this.calls.on("error", () => {})
    this.calls.on("data", (chunk: Buffer) => this.hear(chunk))
    for (const [name, text] of Stub.texts(path)) {
      Fs.writeFileSync(Path.join(path, name), text, { mode: name === Stub.names.program ? 0o700 : 0o600 })
    }
    this.programs = new Programs(Path.join(path, Stub.names.programs), commands)
    this.tickets.give(this.slots)
    this.looking = setInterval(() => this.tidy(), lookEvery).unref()
  }

  get isLost(): boolean {
    return this.broken || this.tickets.lost || Fifo.look(this.callsFd).nlink === 0n
  }

  offer(command: string): void {
    if (!this.closed) this.programs.offer(command)
  }

  get isBusy(): boolean {
    return this.running.size > 0 || this.making !== undefined
  }

  isCaller(pid: number): boolean {
    try {
      const words = Fs.readFileSync(`/proc/${pid}/cmdline`, "utf8")
      return words.includes(`\0${this.directory.path}/${Stub.names.stub}\0`)
    } catch {
      return false
    }
  }

  /** Dismisses all callers. Waits until they have cleaned up and no more slots are being made. */
  readonly dismiss = Effect.asVoid(
    Effect.promise(() => {
      const calls = Array.from(this.running.values(), (call) => {
        call.dismiss()
        return call.ended
      })
      return Promise.all([this.making, ...calls])
    })
  )

  close(): void {
    if (this.closed) return
    this.closed = true
    clearInterval(this.looking)
    for (const call of this.running.values()) call.close()
    this.calls.destroy()
    this.tickets.close()
    this.programs.close()
  }

  private hear(chunk: Buffer): void {
    if (chunk.length > mostCalls) {
      this.calls.pause()
      setTimeout(() => this.calls.resume(), floodEvery).unref()
    }
    for (const slot of chunk.length > mostCalls ? this.slots : chunk.toString("latin1")) {
      if (chunk.includes(slot)) this.take(slot)
    }
  }

  /** Starts the call of a slot. Ignores a byte that names no free slot. */
  private take(slot: string): void {
    if (this.closed || this.running.has(slot) || this.soiled.has(slot) || !this.slots.includes(slot)) return
    let call: BridgeCall
    try {
      call = new BridgeCall(this.directory.path, slot, this.budget, (request) =>
        this.commands.run(call, request, this.around(), this.directory.output)
      )
    } catch {
      // A command has deleted the FIFOs. The next command gets new ones.
      this.broken = true
      return
    }
    this.running.set(slot, call)
    void call.ended.then(() => {
      this.running.delete(slot)
      this.soiled.add(slot)
      this.clean()
    })
    if (this.running.size + this.soiled.size >= this.slots.length) this.more()
  }

  /** Frees slots that no process holds any more. */
  private clean(): void {
    if (this.closed) return
    for (const slot of this.soiled) {
      if (!Stub.channels.every((channel) => isFree(Stub.channelPath(this.directory.path, slot, channel)))) continue
      this.soiled.delete(slot)
      this.tickets.give(slot)
    }
  }

  /** Frees slots, replaces lost tickets, removes forged ones, and makes more slots if none is free. */
  tidy(): void {
    if (this.closed) return
    this.clean()
    const free = [...this.slots].filter((slot) => !this.running.has(slot) && !this.soiled.has(slot))
    if (!this.tickets.check(free)) this.more()
  }

  private more(): void {
    if (this.making !== undefined || this.slots.length >= alphabet.length) return
    const from = this.slots.length
    this.making = Fifo.makeFifos(slotFifos(this.directory.path, from)).then(
      () => {
        this.making = undefined
        if (this.closed) return
        const added = alphabet.slice(from, from + batch)
        this.slots += added
        this.tickets.give(added)
      },
      () => {
        // The existing slots must suffice.
        this.making = undefined
      }
    )
  }
}

const isFree = (path: string): boolean => Attempt.orElse(() => isUnused(path), false)

/** Returns bash text that calls a command not found by bash, and returns, if its name is Synapse's or reserved. */
const onNotFound = (commands: BridgeCommands): string => {
  const prefixes = Array.from(prefixesOf(commands.callable()), (prefix) => `${quote(prefix)}*`)
  const patterns = [...prefixes, ...CommandName.reservedNames.map(quote)]
  const isOurs = patterns.map((pattern) => `$1 == ${pattern}`).join(" || ")
  return `if [[ ${isOurs} ]]; then __synapse_call "$@"; \\builtin return; fi`
}

/** Returns bash text that puts the commands' programs first in the PATH. */
const enterPath = (directory: string): string => `PATH=${quote(`${directory}/${Stub.names.programs}`)}\${PATH:+:$PATH}`

/** The result of `takeCalls` if no call has ended. */
export const noCalls: Calls = { called: undefined, images: [] }

export const make = (commands: BridgeCommands): Context.Tag.Service<ShellBridge> => ({
  fifos,
  open: (directory, around) => new CallServer(directory, commands, around),
  definitions: (directory) => Stub.functions(directory, commands.callable().names),
  enterPath,
  onNotFound: () => onNotFound(commands),
  takeCalls: commands.takeCalls
})
