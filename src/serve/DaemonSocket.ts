/**
 * Listens for the daemon's clients (`src/bin/client.cjs`) on a unix socket that only this user reaches.
 *
 * Both sides write frames: the length of the body, a letter, and the body. The client hands over its words (`O`). The daemon says that it is
 * ready (`R`) before it runs anything, so that a client which has not heard that may try again. A client that can do without the daemon
 * is refused (`N`) where no shell is ready for it; else it gives the word (`G`), and until then nothing runs. Then output comes
 * (`1`, `2`), the daemon asks for bytes of input (`W`), the client sends them (`I`), tells their end (`E`), or stops the command
 * (`S`); last is the exit code (`X`). A client that wants the result as data (`SynapseClient`) gets the command's own output (`o`, `e`)
 * apart from what the program says, and the result (`J`).
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

/** What a client hands over. */
export interface Offer {
  /** The words after the program's name. */
  readonly words: ReadonlyArray<string>
  readonly variables: Readonly<Record<string, string>>
  readonly umask: number
  /** Undefined where it was deleted. */
  readonly directory: { readonly path: string; readonly dev: number; readonly ino: number } | undefined
  readonly hasInput: boolean
  /** True for a client that wants a shell of its own, and starts one itself where none is ready. */
  readonly isFresh?: boolean
  /** True for a client that takes the result as data. */
  readonly isTyped?: boolean
  /** The name of a file that the client has made beside the socket: its owner is the client's user. */
  readonly nonce: string
}

/** The letters of what a client is sent. */
const letters = { stdout: "1", stderr: "2", output: "o", errors: "e", result: "J" } as const

/** A client whose command runs. */
export interface Client {
  readonly offer: Offer
  /** Writes a chunk; where the client is slower, it returns a promise to wait for. */
  readonly write: (to: keyof typeof letters, chunk: Uint8Array | string) => void | Promise<void>
  /** Reads the next bytes of the client's standard input; undefined at its end. */
  readonly pull: () => Promise<Uint8Array | undefined>
  /** Says that a shell is ready for a client that wants one of its own, and waits for its word. */
  readonly agree: Effect.Effect<void>
}

/** The daemon can't listen. */
export class NotListening extends Data.TaggedError("NotListening")<{ readonly message: string }> {}

/** The most bytes of a frame: variables and words have at most 4 MiB. */
const largest = 64 * 1024 ** 2
/** The bytes of input that a client may send ahead. */
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

/** Runs a client's words; undefined where nothing was run, and the client is to do it. */
type Run = (client: Client) => Effect.Effect<number | undefined>
type Fork = <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>

/** Speaks with one client. */
class Connection {
  private bytes = Buffer.alloc(0)
  private fiber: Fiber.RuntimeFiber<number | undefined> | undefined
  private readonly word = Deferred.unsafeMake<void>(FiberId.none)
  private readonly input: Array<Uint8Array> = []
  private hasEnded = false
  private isAsked = false
  private taken = 0
  private hear: () => void = () => {}

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
      // It is in the client's hands at once, also where this process is killed next.
      if (offer.isFresh !== true) this.socket.write(frame("R"))
      this.begin(offer)
    } else if (kind === "G") Deferred.unsafeDone(this.word, Effect.void)
    else if (kind === "I") {
      this.input.push(body)
      this.hear()
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
          return Deferred.await(this.word)
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
    this.hear()
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
        this.hear = resolve
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
 * Gives a socket that listens its name, in the place of one that a killed daemon has left. Resolves to false where another daemon
 * listens under that name.
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
      // Its name is made at once.
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
  /** False where another daemon listens under the name. */
  readonly isFirst: boolean
  /** Refuses all clients from now on, unless one is there; returns whether it does. */
  readonly close: () => boolean
}

/**
 * Listens as the daemon of that name until the scope closes. Fails where no directory can be used.
 *
 * @param facts what its shells would inherit: for clients to which the same applies, it listens under `NAME-FACTS` too
 * @param onLeave called when a client has gone
 */
export const listen = (
  name: string,
  facts: string,
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
      // The path of a socket can't be longer than 107 bytes, and is cut where it is.
      const fd = yield* Effect.acquireRelease(
        attempt(() => {
          const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = Fs.constants
          return Fs.openSync(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        }),
        (fd) => Effect.sync(() => Fs.closeSync(fd))
      )
      const base = process.platform === "linux" ? `/proc/self/fd/${fd}` : directory
      // Before the server closes, its clients' commands have ended.
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
    // Another daemon that has ended may have removed the empty directory in between.
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
      attempt(async () => (await publish(made, path)) && (await publish(made, `${path}-${facts}`))),
      Effect.sync(() => Fs.rmSync(made, { force: true }))
    )
    const inode = inodeOf(path)
    if (isFirst) {
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const each of [path, `${path}-${facts}`]) if (inodeOf(each) === inode) Fs.rmSync(each, { force: true })
        })
      )
    }
    const close = () => {
      isClosed ||= clients.size === 0
      return isClosed
    }
    return { directory, isFirst, close }
  })
