/**
 * Listens for the daemon's clients (`src/bin/client.cjs`) on a unix socket that only this user can reach.
 *
 * Both sides send frames: the body's length, a letter, and the body.
 * - `O`: the client offers its words.
 * - `R`: the daemon is ready. It runs nothing before, so a client that has not received it may try again.
 * - `N`: the daemon has no shell ready for a client that can run without the daemon.
 * - `G`: such a client's go-ahead after `R`; nothing runs before it.
 * - `1`, `2`: output. `W`: the daemon asks for bytes of input. `I`, `E`: the client sends input, and its end.
 * - `S`: the client stops the command. `X`: the exit code, which comes last.
 * - `o`, `e`, `J`: for a client that wants data (`SynapseClient`), the command's own output and the result. Its `1` and
 *   `2` only carry what the program says.
 */
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Path from "node:path"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import type * as Scope from "effect/Scope"
import * as Attempt from "../domain/Attempt.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as PrivateDirectory from "../session/PrivateDirectory.js"

/** What a client asks to run, and its environment. */
export interface Offer {
  /** The words after the program's name. */
  readonly words: ReadonlyArray<string>
  readonly variables: Readonly<Record<string, string>>
  readonly umask: number
  /** Undefined if the directory was deleted. */
  readonly directory: { readonly path: string; readonly dev: number; readonly ino: number } | undefined
  readonly hasInput: boolean
  /** True for a client that wants a new shell, and starts one itself if the daemon has none ready. */
  readonly isFresh?: boolean
  /** What the client's own shell would inherit, if it wants a new shell. */
  readonly facts?: string
  /** True for a client that wants the result as data. */
  readonly isTyped?: boolean
  /** The name of a file that the client created beside the socket. The file's owner proves the client's user. */
  readonly nonce: string
}

/** The letters of the frames that a client gets. */
const letters = { stdout: "1", stderr: "2", output: "o", errors: "e", result: "J" } as const

/** A client whose command runs. */
export interface Client {
  readonly offer: Offer
  /** Writes a chunk. Returns a promise to wait for if the client is slower. */
  readonly write: (to: keyof typeof letters, chunk: Uint8Array | string) => void | Promise<void>
  /** Reads the next bytes of the client's standard input; undefined at its end. */
  readonly pull: () => Promise<Uint8Array | undefined>
  /** Tells a client that wants a new shell that one is ready, and waits for its go-ahead. */
  readonly agree: Effect.Effect<void>
}

/** Says why the daemon can't listen. */
export class NotListening extends Data.TaggedError("NotListening")<{ readonly message: string }> {}

/** The largest frame in bytes; variables and words have at most 4 MiB. */
const largest = 64 * 1024 ** 2
/** How many bytes of input a client may send ahead. */
const window = 1024 ** 2

const frame = (kind: string, body: Uint8Array = new Uint8Array()): Buffer => {
  const bytes = Buffer.allocUnsafe(5 + body.length)
  bytes.writeUInt32LE(body.length)
  bytes[4] = kind.charCodeAt(0)
  bytes.set(body, 5)
  return bytes
}

const wanted = (size: number): Buffer => {
  const body = Buffer.alloc(4)
  body.writeUInt32LE(size)
  return frame("W", body)
}

type Fork = <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>

/** Runs a client's words. Returns undefined if nothing was run and the client must do it. */
type Run = (client: Client) => Effect.Effect<number | undefined>

/** The connection to one client. */
class Connection {
  private bytes = Buffer.alloc(0)
  private fiber: Fiber.RuntimeFiber<number | undefined> | undefined
  private readonly goAhead = Deferred.unsafeMake<void>(FiberId.none)
  private readonly input: Array<Uint8Array> = []
  private hasEnded = false
  private isAsked = false
  private taken = 0
  private wake: () => void = () => {}

  constructor(
    private readonly socket: Net.Socket,
    private readonly base: string,
    private readonly run: Run,
    private readonly fork: Fork
  ) {
    socket.on("error", () => {})
    socket.on("close", () => {
      this.end()
      this.stop()
    })
    socket.on("data", (chunk) => {
      this.bytes = this.bytes.length === 0 ? chunk : Buffer.concat([this.bytes, chunk])
      while (this.bytes.length >= 5 && !socket.destroyed) {
        const length = this.bytes.readUInt32LE()
        if (length > largest) return void socket.destroy()
        if (this.bytes.length < 5 + length) return
        const body = this.bytes.subarray(5, 5 + length)
        const kind = String.fromCharCode(this.bytes[4] ?? 0)
        this.bytes = this.bytes.subarray(5 + length)
        this.take(kind, body)
      }
    })
  }

  private take(kind: string, body: Buffer): void {
    if (kind === "O" && this.fiber === undefined) {
      const offer = Attempt.orUndefined((): Offer | null => JSON.parse(body.toString()))
      if (offer == null || !this.isOwn(offer.nonce)) return void this.socket.destroy()
      // Sent before anything runs, so that the client has it even if this process is killed next.
      if (offer.isFresh !== true) this.socket.write(frame("R"))
      this.begin(offer)
    } else if (kind === "G") Deferred.unsafeDone(this.goAhead, Effect.void)
    else if (kind === "I") {
      this.input.push(body)
      this.wake()
    } else if (kind === "E") this.end()
    else if (kind === "S") this.stop()
    else this.socket.destroy()
  }

  private isOwn(nonce: string): boolean {
    return Attempt.orElse(() => {
      const path = `${this.base}/${Path.basename(nonce)}`
      const { uid } = Fs.lstatSync(path)
      Fs.unlinkSync(path)
      return uid === process.getuid?.()
    }, false)
  }

  private begin(offer: Offer): void {
    const fiber = this.fork(
      this.run({
        offer,
        write: (to, chunk) => this.write(frame(letters[to], Buffer.from(chunk))),
        pull: () => this.pull(),
        agree: Effect.suspend(() => {
          this.socket.write(frame("R"))
          return Deferred.await(this.goAhead)
        })
      })
    )
    this.fiber = fiber
    fiber.addObserver((exit) => {
      const code = Exit.match(exit, {
        onSuccess: (code) => code,
        onFailure: (cause) => {
          if (Cause.isInterruptedOnly(cause)) return ExitCode.interrupted
          this.write(frame("2", Buffer.from(`synapse: internal error: ${Cause.pretty(cause)}\n`)))
          return ExitCode.failure
        }
      })
      this.socket.end(code === undefined ? frame("N") : frame("X", Uint8Array.of(code)))
    })
  }

  private stop(): void {
    if (this.fiber !== undefined) this.fork(Fiber.interruptFork(this.fiber))
  }

  private end(): void {
    this.hasEnded = true
    this.wake()
  }

  private write(bytes: Buffer): void | Promise<void> {
    if (this.socket.destroyed || this.socket.write(bytes)) return
    return new Promise((resolve) => {
      const done = () => {
        this.socket.off("drain", done).off("close", done)
        resolve()
      }
      this.socket.on("drain", done).on("close", done)
    })
  }

  private async pull(): Promise<Uint8Array | undefined> {
    if (!this.isAsked) this.socket.write(wanted(window))
    this.isAsked = true
    while (this.input.length === 0 && !this.hasEnded) {
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
    const bytes = this.input.shift()
    this.taken += bytes?.length ?? 0
    if (this.taken >= window / 4 && !this.hasEnded) {
      this.socket.write(wanted(this.taken))
      this.taken = 0
    }
    return bytes
  }
}

const inodeOf = (path: string): number | undefined => Attempt.orUndefined(() => Fs.lstatSync(path).ino)

/** Tests whether a daemon listens on a socket. */
const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = Net.connect(path, () => {
      socket.destroy()
      resolve(true)
    }).on("error", () => resolve(false))
  })

/**
 * Links a listening socket to its public name, and replaces the socket of a killed daemon. Resolves to false if another
 * daemon listens under that name.
 */
const publish = async (made: string, path: string): Promise<boolean> => {
  for (;;) {
    const before = inodeOf(path)
    if (before === undefined) {
      try {
        Fs.linkSync(made, path)
        return true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
      }
    } else if (await answers(path)) return false
    else if (inodeOf(path) === before) Fs.unlinkSync(path)
  }
}

const bind = async (server: Net.Server, path: string): Promise<void> => {
  const umask = process.umask(0o077)
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject)
      // `listen` creates the file at once, so the umask only matters until it returns.
      server.listen(path, resolve)
      process.umask(umask)
    })
  } finally {
    process.umask(umask)
  }
}

interface Listening {
  /** The directory of the socket. */
  readonly directory: string
  /** False if another daemon listens under the name. */
  readonly isFirst: boolean
  /** Refuses all new clients, unless one is connected. Returns whether it does. */
  readonly close: () => boolean
}

/**
 * Listens as the daemon of a name until the scope closes. Fails if no directory is usable.
 *
 * @param onLeave called after a client has left
 */
export const listen = (
  name: string,
  run: Run,
  onLeave: () => void
): Effect.Effect<Listening, NotListening, Scope.Scope> =>
  Effect.gen(function* () {
    let isClosed = false
    const clients = new Set<Net.Socket>()
    const attempt = <A>(what: () => A | Promise<A>) =>
      Effect.tryPromise({
        try: async () => what(),
        catch: (error) => new NotListening({ message: error instanceof Error ? error.message : String(error) })
      })
    const bound = Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        attempt(() => PrivateDirectory.shared("daemon")),
        (path) => Effect.sync(() => PrivateDirectory.letGo(path))
      )
      // A socket's path is silently cut at 107 bytes, so a short path through the descriptor is used.
      const fd = yield* Effect.acquireRelease(
        attempt(() => {
          const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = Fs.constants
          return Fs.openSync(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        }),
        (fd) => Effect.sync(() => Fs.closeSync(fd))
      )
      const base = process.platform === "linux" ? `/proc/self/fd/${fd}` : directory
      // The commands of the clients end before the server closes.
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => Net.createServer()),
        (server) =>
          Effect.sync(() => {
            server.close()
            for (const socket of clients) socket.destroy()
          })
      )
      yield* attempt(() => bind(server, `${base}/${name}.${process.pid}`))
      return { directory, base, server }
    })
    // Another daemon that ended may have removed the empty directory in between.
    const { base, directory, server } = yield* Effect.retry(bound, { times: 10 })
    const path = `${base}/${name}`
    const made = `${path}.${process.pid}`
    const fork = yield* FiberSet.makeRuntime<never>()
    server.on("connection", (socket) => {
      if (isClosed) return void socket.destroy()
      clients.add(socket)
      new Connection(socket, base, run, fork)
      socket.on("close", () => {
        clients.delete(socket)
        onLeave()
      })
    })
    const isFirst = yield* Effect.ensuring(
      attempt(() => publish(made, path)),
      Effect.sync(() => Fs.rmSync(made, { force: true }))
    )
    const inode = inodeOf(path)
    if (isFirst) {
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (inodeOf(path) === inode) Fs.rmSync(path, { force: true })
        })
      )
    }
    const close = () => {
      isClosed ||= clients.size === 0
      return isClosed
    }
    return { directory, isFirst, close }
  })
