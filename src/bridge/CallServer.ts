/**
 * Accepts the calls that come from the shell, and assigns a slot to each.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Mkfifo from "../session/Mkfifo.js"
import type { SessionDirectory } from "../session/SessionDirectory.js"
import type { OpenBridge, Surroundings } from "../session/ShellBridge.js"
import { BridgeCall } from "./BridgeCall.js"
import type { BridgeCommands } from "./BridgeCommands.js"
import * as Fifo from "./Fifo.js"
import { Programs } from "./Programs.js"
import * as Stub from "./Stub.js"
import { Tickets } from "./Tickets.js"

/** The names of slots, one byte each. */
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/** Milliseconds between two checks of the slots. */
const lookEvery = 500

/** The most calls that are begun at once; a longer chunk is a command's doing, and the next is read after a while. */
const mostCalls = alphabet.length
const floodEvery = 50

/** The most bytes of incomplete requests. */
const budget = 64 * 1024 ** 2

/** The number of slots that are made at once. */
const batch = 4

/**
 * Returns the paths of the FIFOs that must exist before the first call.
 *
 * @since 0.1.0
 */
export const fifos = (directory: string): ReadonlyArray<string> => [
  Path.join(directory, Stub.names.tickets),
  Path.join(directory, Stub.names.calls),
  ...slotFifos(directory, 0)
]

const slotFifos = (directory: string, from: number): ReadonlyArray<string> =>
  [...alphabet.slice(from, from + batch)].flatMap((slot) =>
    Stub.channels.map((channel) => Stub.channelPath(directory, slot, channel))
  )

/**
 * Answers the calls of one session.
 *
 * @since 0.1.0
 * @category models
 */
export class CallServer implements OpenBridge {
  private readonly tickets: Tickets
  private readonly callsFd: number
  private readonly calls: Net.Socket
  private readonly running = new Map<string, BridgeCall>()
  /** Slots whose FIFOs are still held by something that the caller has left behind. */
  private readonly soiled = new Set<string>()
  private readonly budget = { left: budget }
  private readonly looking: NodeJS.Timeout
  private slots = alphabet.slice(0, batch)
  /** True where calls can't be answered any more. */
  broken = false
  private making = false
  private closed = false
  private readonly programs: Programs

  constructor(
    private readonly directory: SessionDirectory,
    private readonly commands: BridgeCommands,
    private readonly around: () => Surroundings
  ) {
    const { path } = directory
    this.tickets = new Tickets(Path.join(path, Stub.names.tickets))
    this.callsFd = Fifo.openBoth(Path.join(path, Stub.names.calls))
    this.calls = new Net.Socket({ fd: this.callsFd, readable: true, writable: false }).unref()
    this.calls.on("error", () => {})
    this.calls.on("data", (chunk: Buffer) => this.hear(chunk))
    Fs.writeFileSync(Path.join(path, Stub.names.stub), Stub.stub(path), { mode: 0o600 })
    Fs.writeFileSync(Path.join(path, Stub.names.files), Stub.files(), { mode: 0o600 })
    Fs.writeFileSync(Path.join(path, Stub.names.several), Stub.several(), { mode: 0o600 })
    Fs.writeFileSync(Path.join(path, Stub.names.rest), Stub.rest(), { mode: 0o600 })
    const writer = Stub.writer()
    if (writer !== undefined) {
      Fs.writeFileSync(Path.join(path, Stub.names.writing), writer, { mode: 0o600 })
      // By a name of its own, so that nothing that ends programs named perl ends it.
      Fs.symlinkSync("/usr/bin/perl", Path.join(path, Stub.names.writer))
    }
    Fs.writeFileSync(Path.join(path, Stub.names.read), Stub.read(path), { mode: 0o600 })
    Fs.writeFileSync(Path.join(path, Stub.names.program), Stub.program(path), { mode: 0o700 })
    Fs.writeFileSync(Path.join(path, Stub.names.call), Stub.call(path), { mode: 0o600 })
    this.programs = new Programs(Path.join(path, Stub.names.programs), commands)
    this.tickets.give(this.slots)
    this.looking = setInterval(() => this.tidy(), lookEvery).unref()
  }

  /** True where a command has deleted files that calls need. */
  get lost(): boolean {
    return this.tickets.lost || Fs.fstatSync(this.callsFd).nlink === 0
  }

  offer(command: string): void {
    if (!this.closed) this.programs.offer(command)
  }

  /** True while a call is being answered. */
  get isBusy(): boolean {
    return this.running.size > 0
  }

  isCaller(pid: number): boolean {
    try {
      const words = Fs.readFileSync(`/proc/${pid}/cmdline`, "utf8")
      return [Stub.names.stub, Stub.names.writing].some((name) => words.includes(`\0${this.directory.path}/${name}\0`))
    } catch {
      return false
    }
  }

  /** Dismisses all callers, and waits until they have removed what they had begun. */
  readonly dismiss = Effect.asVoid(
    Effect.promise(() =>
      Promise.all(
        Array.from(this.running.values(), (call) => {
          call.dismiss()
          return call.ended
        })
      )
    )
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

  /** Starts the call of a slot; ignores a byte that names no free slot. */
  private take(slot: string): void {
    if (this.closed || this.running.has(slot) || this.soiled.has(slot) || !this.slots.includes(slot)) return
    let call: BridgeCall
    try {
      call = new BridgeCall(this.directory.path, slot, this.budget, (request) =>
        this.commands.run(call, request, this.around(), this.directory.output)
      )
    } catch {
      // A command has deleted the FIFOs: the next command gets new ones.
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

  /** Makes slots free again that nobody holds any more. */
  private clean(): void {
    if (this.closed) return
    for (const slot of this.soiled) {
      if (!Stub.channels.every((channel) => isUnused(Stub.channelPath(this.directory.path, slot, channel)))) continue
      this.soiled.delete(slot)
      this.tickets.give(slot)
    }
  }

  /** Frees slots, replaces lost tickets, removes forged ones, and makes more slots where none is left. */
  tidy(): void {
    if (this.closed) return
    this.clean()
    const free = [...this.slots].filter((slot) => !this.running.has(slot) && !this.soiled.has(slot))
    if (!this.tickets.check(free)) this.more()
  }

  private more(): void {
    if (this.making || this.slots.length >= alphabet.length) return
    this.making = true
    const from = this.slots.length
    Mkfifo.make(slotFifos(this.directory.path, from)).then(
      () => {
        this.making = false
        if (this.closed) return
        const added = alphabet.slice(from, from + batch)
        this.slots += added
        this.tickets.give(added)
      },
      () => {
        // The slots that exist have to suffice.
        this.making = false
      }
    )
  }
}

const isUnused = (path: string): boolean => {
  try {
    return Fifo.isUnused(path)
  } catch {
    return false
  }
}
