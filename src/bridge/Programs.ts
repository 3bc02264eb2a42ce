/**
 * The programs in the PATH that call our commands: one for each name, so that whatever runs programs (`env`, `xargs`,
 * `find -exec`, other shells) finds them.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import type { Described } from "../command/CommandHandler.js"
import * as ReservedName from "../command/ReservedName.js"
import type { BridgeCommands } from "./BridgeCommands.js"
import * as CommandNames from "./CommandNames.js"
import * as Stub from "./Stub.js"

/** The most names that the texts of commands may add: they stay for the commands after it, and the oldest go. */
const mostNamed = 200

/** The most names that the handlers of prefixes may add. */
const mostKnown = 10_000

/** Milliseconds that programs are made and removed in one turn of the event loop. */
const slice = 2

/** The handler of a prefix (`mcp:*`), and the commands that it knows: one for each tool. */
type Known = readonly [prefixed: Described, commands: ReadonlyArray<Described>]

/**
 * The directory of programs of one session.
 *
 * @since 0.1.0
 * @category models
 */
export class Programs {
  /** The commands with a name of their own, as of the last look. */
  private exact: ReadonlyArray<string> = []
  /** The handlers of prefixes, each with its commands as of the last look. */
  private known: ReadonlyArray<Known> = []
  private readonly knownNames = new Set<string>()
  /** The names from the texts of commands; the one that was used last is the last. */
  private readonly named = new Set<string>()
  private prefixes: ReadonlyArray<string> = []
  private prefixed: ReadonlyArray<Described> | undefined
  private work: Iterator<void> | undefined
  private next: NodeJS.Immediate | undefined
  private hasBegun = false
  private readonly fd: number
  /** The directory by its descriptor, where the system can: a command may put a link in its place. */
  private readonly place: string

  /** Makes the directory, with a program for each command of a name of its own; throws the file system's errors. */
  constructor(
    directory: string,
    private readonly commands: BridgeCommands
  ) {
    Fs.mkdirSync(directory, { mode: 0o700 })
    this.fd = Fs.openSync(directory, Fs.constants.O_RDONLY | Fs.constants.O_DIRECTORY | Fs.constants.O_NOFOLLOW)
    const byDescriptor = `/proc/self/fd/${this.fd}`
    this.place = Fs.existsSync(byDescriptor) ? byDescriptor : directory
    try {
      this.setExact()
    } catch (error) {
      Fs.closeSync(this.fd)
      throw error
    }
  }

  /**
   * Makes programs: at once those of new commands with a name of their own, and of commands that the text names. Those of
   * the other commands of prefixes are made in the background, a few milliseconds at a time.
   */
  offer(text: string): void {
    this.setExact()
    this.setPrefixes()
    for (const name of CommandNames.within(text, this.prefixes, mostNamed)) this.addNamed(name)
    if (this.hasBegun) this.follow()
    else this.next ??= setImmediate(() => this.begin())
  }

  close(): void {
    clearImmediate(this.next)
    this.work = undefined
    Fs.closeSync(this.fd)
  }

  private setExact(): void {
    const names = this.commands.names()
    if (names === this.exact) return
    const before = this.exact
    this.exact = names
    const [old, now] = [new Set(before), new Set(names)]
    for (const name of before) if (!now.has(name)) this.drop(name)
    for (const name of names) if (!old.has(name) && !name.includes("/")) this.add(name)
  }

  private setPrefixes(): void {
    const prefixed = this.commands.prefixed()
    if (prefixed === this.prefixed) return
    this.prefixed = prefixed
    this.prefixes = [...new Set([...ReservedName.prefixes, ...prefixed.map(({ name }) => name.slice(0, -1))])]
  }

  private addNamed(name: string): void {
    const isThere = this.knownNames.has(name) || this.named.delete(name)
    // The one that was used last comes last.
    this.named.add(name)
    if (!isThere) this.tryAdd(name)
    if (this.named.size <= mostNamed) return
    const [oldest = name] = this.named
    this.named.delete(oldest)
    this.drop(oldest)
  }

  private begin(): void {
    this.next = undefined
    this.hasBegun = true
    this.follow()
  }

  /** Begins to make the programs anew of what is known, where that has changed. */
  private follow(): void {
    const prefixed = this.prefixed ?? []
    const known = prefixed.flatMap((handler): ReadonlyArray<Known> => {
      const commands = knownOf(handler)
      return commands === undefined ? [] : [[handler, commands]]
    })
    const isSame = (at: number) => known[at]?.[0] === this.known[at]?.[0] && known[at]?.[1] === this.known[at]?.[1]
    if (known.length === this.known.length && known.every((_, at) => isSame(at))) return
    this.known = known
    this.work = this.steps(known)
    this.goOn()
  }

  private goOn(): void {
    clearImmediate(this.next)
    this.next = undefined
    const end = performance.now() + slice
    do {
      if (this.work?.next().done !== false) {
        this.work = undefined
        return
      }
    } while (performance.now() < end)
    this.next = setImmediate(() => this.goOn())
  }

  private *steps(known: ReadonlyArray<Known>): Generator<void> {
    const wanted = new Set<string>()
    for (const [{ name: pattern }, commands] of known) {
      const prefix = pattern.slice(0, -1)
      for (const { name } of commands) {
        if (wanted.size >= mostKnown) break
        // A name without the prefix would stand before a program of the system.
        if (typeof name !== "string" || !isUnder(prefix, name)) continue
        wanted.add(name)
        if (!this.knownNames.has(name)) {
          this.knownNames.add(name)
          this.tryAdd(name)
        }
        yield
      }
    }
    for (const name of this.knownNames) {
      if (wanted.has(name)) continue
      this.knownNames.delete(name)
      this.drop(name)
      yield
    }
  }

  /** Makes a program; where that can't be, the shell still finds the command, but no other program does. */
  private tryAdd(name: string): void {
    try {
      this.add(name)
    } catch {
      // There is no room, or a command has deleted the directory.
    }
  }

  /** Links to the one program, by a hard link, which takes a fifth of the time, where the file system lets it. */
  private add(name: string): void {
    const path = `${this.place}/${name}`
    const program = `../${Stub.names.program}`
    if (isMade(() => Fs.linkSync(`${this.place}/${program}`, path))) return
    Fs.symlinkSync(program, path)
  }

  /** Removes a program, unless its name is still one of a command, or of a text. */
  private drop(name: string): void {
    if (this.exact.includes(name) || this.knownNames.has(name) || this.named.has(name)) return
    try {
      Fs.unlinkSync(`${this.place}/${name}`)
    } catch {
      // A command has removed it, or has put a directory in its place.
    }
  }
}

/** Makes a link; tells whether there is one by that name now. */
const isMade = (link: () => void): boolean => {
  try {
    link()
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST"
  }
}

const isUnder = (prefix: string, name: string): boolean =>
  name.length > prefix.length && name.startsWith(prefix) && CommandNames.canBeFile(name)

/** Returns what a handler of a prefix knows; undefined where it does not tell, or fails to. */
const knownOf = ({ known }: Described): ReadonlyArray<Described> | undefined => {
  try {
    return known?.()
  } catch {
    return undefined
  }
}
