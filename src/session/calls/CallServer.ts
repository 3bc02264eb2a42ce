/**
 * Hears the calls that come from the shell, and gives out the slots for them.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Path from "node:path"
import type { CommandInput } from "../../domain/CommandInput.js"
import type { SessionDirectory } from "../SessionDirectory.js"
import { Call } from "./Call.js"
import type { Commands } from "./Commands.js"
import * as Fifo from "./Fifo.js"
import * as Stub from "./Stub.js"

/** A slot's name is one byte. */
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/** Slots that are made at once. */
const batch = 4

/**
 * The FIFOs that have to be there before the first call.
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
 * @since 0.1.0
 * @category models
 */
export class CallServer {
  private readonly tickets: number
  private readonly calls: Net.Socket
  private readonly running = new Map<string, Call>()
  /** Slots that somebody still holds, by whatever its caller has left behind. */
  private readonly soiled = new Set<string>()
  private made = batch
  private making = false
  private closed = false
  private offered: ReadonlyArray<string> = []

  constructor(
    private readonly directory: SessionDirectory,
    private readonly commands: Commands,
    private readonly input: () => CommandInput | undefined
  ) {
    const { path } = directory
    this.tickets = Fifo.openBoth(Path.join(path, Stub.names.tickets))
    this.calls = Fifo.listener(Path.join(path, Stub.names.calls)).unref()
    this.calls.on("error", () => {})
    this.calls.on("data", (chunk: Buffer) => {
      for (const slot of chunk.toString("latin1")) this.take(slot)
    })
    Fs.mkdirSync(this.programs, { mode: 0o700 })
    Fs.writeFileSync(Path.join(path, Stub.names.stub), Stub.stub(path), { mode: 0o600 })
    Fs.writeFileSync(Path.join(path, Stub.names.program), Stub.program(path), { mode: 0o700 })
    this.give(alphabet.slice(0, batch))
    this.offer()
  }

  /** Makes programs of the PATH out of the commands' names, and takes away those that are no more. */
  offer(): void {
    const names = this.commands.names()
    if (names === this.offered || this.closed) return
    for (const name of this.offered) if (!names.includes(name)) Fs.rmSync(this.program(name), { force: true })
    for (const name of names) {
      if (!this.offered.includes(name) && !name.includes("/")) {
        Fs.symlinkSync(`../${Stub.names.program}`, this.program(name))
      }
    }
    this.offered = names
  }

  /** Lets everyone go who still calls. */
  close(): void {
    if (this.closed) return
    this.closed = true
    for (const call of this.running.values()) call.close()
    this.calls.destroy()
    Fs.closeSync(this.tickets)
  }

  private get programs(): string {
    return Path.join(this.directory.path, Stub.names.programs)
  }

  private program(name: string): string {
    return Path.join(this.programs, name)
  }

  /** Whoever writes a byte that is no free slot's gets no answer. */
  private take(slot: string): void {
    if (this.closed || this.running.has(slot) || !alphabet.slice(0, this.made).includes(slot)) return
    let call: Call
    try {
      call = new Call(this.directory.path, slot, (request) => this.commands.run(call, request, this.input()))
    } catch {
      // A command has deleted the FIFOs: the next one gets others.
      return
    }
    this.running.set(slot, call)
    call.onEnd = () => {
      this.running.delete(slot)
      this.soiled.add(slot)
      this.clean()
    }
    if (this.running.size + this.soiled.size >= this.made) this.more()
  }

  /** Slots that nobody holds any more are given out again; another look is taken with the next call's end. */
  private clean(): void {
    if (this.closed) return
    for (const slot of this.soiled) {
      if (!Stub.channels.every((channel) => isUnused(Stub.channelPath(this.directory.path, slot, channel)))) continue
      this.soiled.delete(slot)
      this.give(slot)
    }
  }

  private give(slots: string): void {
    Fs.writeSync(this.tickets, slots)
  }

  private more(): void {
    if (this.making || this.made >= alphabet.length) return
    this.making = true
    const from = this.made
    const added = alphabet.slice(from, from + batch)
    this.directory.makeFifos(slotFifos(this.directory.path, from)).then(
      () => {
        this.making = false
        if (this.closed) return
        this.made = from + added.length
        this.give(added)
      },
      () => {
        // Those that are there have to do.
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
