"use strict"
// The client of the daemon, which runs instead of the bundle: it sends the words to the daemon, and passes on bytes. Loading the
// bundle would take longer than this whole run, and so would `process.stdin`, `process.stdout` and `process.stderr`.
const fs = require("node:fs")
const os = require("node:os")

const { env } = process

/** The variables that the daemon starts with. Sessions take all others from the client that opens them. */
const kept = ["HOME", "SYNAPSE_HOME", "TMPDIR", "XDG_RUNTIME_DIR", "PATH", "SYNAPSE_DAEMON_IDLE"]

/** How long a daemon may take to answer, in milliseconds. */
const patience = 30_000

/** How long it may take to offer a ready shell, in milliseconds. The program also works without one. */
const readyPatience = 300

/** The letter of the frame that offers a ready shell. */
const ready = "R".charCodeAt(0)

/** The number of bytes that one read of standard input takes. */
const chunkSize = 64 * 1024

/** @type {<A>(run: () => A) => A | undefined} */
const attempt = (run) => {
  try {
    return run()
  } catch {
    return undefined
  }
}

/** @param {string} text */
const say = (text) => void attempt(() => fs.writeSync(2, `synapse: ${text}\n`))

/** Names the daemon of a client. Each build, home directory and set of namespaces has its own. */
const keyOf = () => {
  const namespaces = ["mnt", "pid", "user"].map((name) => attempt(() => fs.readlinkSync(`/proc/self/ns/${name}`)))
  const facts = ["%MAIN%", process.version, ...kept.slice(0, 4).map((name) => env[name]), ...namespaces]
  let [a, b] = [0x811c9dc5, 0x41c6ce57]
  for (const byte of Buffer.from(facts.join("\0"))) {
    a = Math.imul(a ^ byte, 0x01000193)
    b = Math.imul(b ^ byte, 0x5bd1e995)
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
}

/** Reads what child processes inherit and the client can't send: limits, rights, priorities, namespaces. */
exports.factsOf = () => {
  const read = (/** @type {string} */ name) => attempt(() => fs.readFileSync(`/proc/self/${name}`, "latin1"))
  const status = read("status")?.match(
    /^(?:Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*|Cpus_allowed|Mems_allowed):.*/gm
  )
  // The fields behind the name, which may hold any character: priority, nice, scheduling priority and policy.
  const stat = (read("stat") ?? "").replace(/^.*\) /s, "").split(" ")
  const scheduling = [15, 16, 37, 38].map((at) => stat[at])
  const files = ["limits", "cgroup", "oom_score_adj", "attr/current", "personality", "coredump_filter"].map(read)
  const namespaces = ["cgroup", "ipc", "net", "time", "time_for_children", "pid_for_children", "uts"]
  const targets = ["root", ...namespaces.map((name) => `ns/${name}`)].map((name) =>
    attempt(() => fs.readlinkSync(`/proc/self/${name}`))
  )
  return JSON.stringify([status, scheduling, files, targets])
}

/** The directories where the daemon may listen, in the order of `PrivateDirectory.places`. */
const places = function* () {
  const home = attempt(() => os.homedir())
  if (home) yield `${home}/.synapse/run/daemon`
  const own = attempt(() => os.userInfo().homedir)
  if (own) yield `${own}/.synapse/run/daemon`
  if (env["XDG_RUNTIME_DIR"]) yield `${env["XDG_RUNTIME_DIR"]}/synapse/daemon`
  yield `/tmp/synapse-${process.getuid?.() ?? 0}/daemon`
}

/** Opens a directory, or returns undefined if others than this user have access. */
const openOwn = (/** @type {string} */ path) =>
  attempt(() => {
    const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants
    const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    const { mode, uid } = fs.fstatSync(fd)
    if (uid === process.geteuid?.() && (mode & 0o077) === 0) return fd
    fs.closeSync(fd)
    return undefined
  })

/**
 * Uses a directory that a daemon listens in. Resolves to undefined if others than this user have access.
 *
 * @template A
 * @param {string} path
 * @param {(base: string) => A | Promise<A>} use
 */
const within = async (path, use) => {
  const fd = openOwn(path)
  if (fd === undefined) return undefined
  try {
    // A short path, because that of a socket can have at most 107 bytes.
    return await use(process.platform === "linux" ? `/proc/self/fd/${fd}` : path)
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * Starts a daemon. Resolves to the directory that it listens in, or to the reason why it does not.
 *
 * @param {string} key
 * @param {(text: string) => void} tell gets a message once the daemon has started
 * @returns {Promise<{ readonly directory: string, readonly reason: string }>}
 */
const start = (key, tell) =>
  new Promise((resolve) => {
    const child = require("node:child_process").spawn(process.execPath, [`${__dirname}/synapse.cjs`, "--daemon", key], {
      cwd: "/",
      detached: true,
      env: Object.fromEntries(Object.entries(env).filter(([name]) => kept.includes(name) || name.startsWith("OTEL_"))),
      stdio: ["ignore", "pipe", "ignore"]
    })
    const fail = () => resolve({ directory: "", reason: "no daemon could be started" })
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (part) => {
      text += part
      if (!text.endsWith("\n")) return
      child.unref()
      child.stdout.destroy()
      const [, isOther, directory = ""] = /^(=?)(\/.*)\n$/s.exec(text) ?? []
      if (isOther === "") tell("started the daemon, which keeps sessions (synapse daemon list, stop)")
      resolve({ directory, reason: text.trimEnd().replace(/^synapse: /, "") })
    })
    child.on("error", fail).on("close", fail)
  })

/** The start in progress, shared by concurrent calls of one program. @type {ReturnType<typeof start> | undefined} */
let starting

/** @type {typeof start} */
const startOnce = (key, tell) => {
  starting ??= start(key, tell).finally(() => {
    starting = undefined
  })
  return starting
}

/**
 * @param {string} kind
 * @param {Uint8Array | string} body
 */
const frame = (kind, body = "") => {
  const bytes = Buffer.from(body)
  const head = Buffer.allocUnsafe(5)
  head.writeUInt32LE(bytes.length)
  head[4] = kind.charCodeAt(0)
  return Buffer.concat([head, bytes])
}

/** Tests whether there may be input on standard input. */
const hasInput = () => {
  const input = attempt(() => fs.fstatSync(0))
  if (input === undefined) return false
  return input.isCharacterDevice()
    ? input.rdev !== fs.statSync("/dev/null").rdev && !require("node:tty").isatty(0)
    : !input.isDirectory()
}

/**
 * A client's request: the words of the program, and either a ready shell (`isFresh`) or the result as data (`isTyped`).
 *
 * @typedef {{ readonly words: ReadonlyArray<string>, readonly isFresh?: boolean, readonly isTyped?: boolean }} Wanted
 */

/** Makes the message to the daemon: the request, and what a session inherits from the client. */
const offerOf = (/** @type {Wanted} */ wanted, /** @type {string} */ nonce) => ({
  ...wanted,
  nonce,
  variables: { ...env },
  umask: process.umask(),
  directory: attempt(() => {
    const { dev, ino } = fs.statSync(".")
    return { path: process.cwd(), dev, ino }
  }),
  hasInput: wanted.isTyped !== true && hasInput(),
  facts: wanted.isFresh === true ? exports.factsOf() : undefined
})

/**
 * Reads frames in order, until the connection closes.
 *
 * @param {Socket} socket
 * @param {Buffer} input the bytes received so far
 * @param {(kind: string, body: Buffer, next: () => void) => boolean} take returns false if it calls `next` itself for the next frame
 * @param {() => void} lose called after the last frame
 */
const read = (socket, input, take, lose) => {
  let isClosed = false
  let isTaking = false
  const next = () => {
    isTaking = false
    while (input.length >= 5 && input.length >= 5 + input.readUInt32LE()) {
      const end = 5 + input.readUInt32LE()
      const kind = String.fromCharCode(input[4] ?? 0)
      const body = input.subarray(5, end)
      input = input.subarray(end)
      isTaking = true
      if (!take(kind, body, next)) return
      isTaking = false
    }
    if (isClosed) lose()
    else socket.resume()
  }
  socket.on("data", (chunk) => {
    input = input.length === 0 ? chunk : Buffer.concat([input, chunk])
    socket.pause()
    next()
  })
  socket.on("close", () => {
    isClosed = true
    if (!isTaking) lose()
  })
  next()
}

/**
 * Passes bytes between the daemon and the standard streams, until the command has ended.
 *
 * @param {Socket} socket
 * @param {Buffer} input the bytes received so far
 */
const converse = (socket, input) => {
  /** @type {number | undefined} */
  let stoppedWith
  let isMute = false
  let credit = 0
  /** @type {(() => void) | undefined} */
  let readOn

  const stop = (/** @type {number} */ code) => {
    if (stoppedWith === undefined) socket.write(frame("S"))
    stoppedWith ??= code
  }
  for (const name of /** @type {const} */ ([
    "SIGINT",
    "SIGTERM",
    "SIGHUP",
    "SIGQUIT",
    "SIGUSR1",
    "SIGUSR2",
    "SIGALRM"
  ])) {
    const code = 128 + os.constants.signals[name]
    process.on(name, () => (stoppedWith === undefined ? stop(code) : process.exit(stoppedWith)))
  }

  const send = (/** @type {Uint8Array} */ bytes) => {
    credit -= bytes.length
    return socket.write(frame("I", bytes))
  }
  const cannotRead = (/** @type {Error} */ error) => {
    say(`stdin ends here, for it can't be read: ${error.message}`)
    socket.write(frame("E"))
  }
  const openInput = () => {
    const input = fs.fstatSync(0)
    if (input.isFIFO() || input.isSocket()) {
      const stdin = new (require("node:net").Socket)({ fd: 0, readable: true, writable: false })
      stdin.on("data", (bytes) => {
        send(bytes)
        if (credit <= 0) stdin.pause()
      })
      stdin.on("end", () => socket.write(frame("E"))).on("error", cannotRead)
      return () => void stdin.resume()
    }
    const buffer = Buffer.allocUnsafe(chunkSize)
    let isReading = false
    const read = () => {
      if (isReading || credit <= 0) return
      isReading = true
      fs.read(0, buffer, 0, chunkSize, null, (error, length) => {
        isReading = false
        if (error) return cannotRead(error)
        if (length === 0) return void socket.write(frame("E"))
        send(buffer.subarray(0, length))
        read()
      })
    }
    return read
  }

  /** @type {(fd: number, bytes: Buffer, done: () => void) => void} */
  const write = (fd, bytes, done) => {
    if (isMute || bytes.length === 0) return done()
    fs.write(fd, bytes, 0, bytes.length, null, (error, written) => {
      if (error === null) return write(fd, bytes.subarray(written), done)
      if (error.code === "EAGAIN") return void setTimeout(write, 2, fd, bytes, done)
      isMute = true
      if (error.code !== "EPIPE") say(`the output can't be written: ${error.message.replace(/, write$/, "")}`)
      stop(error.code === "EPIPE" ? 141 : 1)
      done()
    })
  }

  const take = (/** @type {string} */ kind, /** @type {Buffer} */ body, /** @type {() => void} */ next) => {
    if (kind === "1" || kind === "2") {
      write(Number(kind), body, next)
      return false
    }
    if (kind === "X") process.exit(stoppedWith ?? body[0])
    credit += body.readUInt32LE()
    readOn ??= openInput()
    readOn()
    return true
  }
  read(socket, input, take, () => {
    if (stoppedWith === undefined) say("the daemon ended while the command ran, and ended it: its session is gone")
    process.exit(stoppedWith ?? 1)
  })
}

/** @typedef {import("node:net").Socket} Socket */

/** A connection to the daemon, and the bytes received so far. @typedef {{ readonly socket: Socket, readonly rest: Buffer }} Connected */

/**
 * Sends a request to the daemon of a directory. Resolves to the connection once the daemon runs it, to the reason why it does
 * not (empty without a ready shell), or to undefined if there is no daemon. Nothing runs before that.
 *
 * @param {string} base
 * @param {string} name the socket's name
 * @param {Wanted} wanted
 * @returns {Promise<Connected | string | undefined>}
 */
const offer = (base, name, wanted) =>
  new Promise((resolve) => {
    const nonce = `n.${process.pid}.${process.hrtime.bigint()}`
    const socket = require("node:net").connect(`${base}/${name}`)
    const forget = () => {
      clearTimeout(timer)
      socket.removeAllListeners("close")
    }
    const fail = (/** @type {string | undefined} */ answer) => {
      forget()
      attempt(() => fs.unlinkSync(`${base}/${nonce}`))
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(
      () => fail("the daemon does not answer. Is it stopped? Continue or kill it, and try again."),
      wanted.isFresh === true ? readyPatience : patience
    )
    socket.on("error", () => {}).on("close", () => fail(undefined))
    socket.once("connect", () => {
      // The owner of this file shows the daemon which user connects.
      attempt(() => fs.closeSync(fs.openSync(`${base}/${nonce}`, "wx", 0o600)))
      socket.write(frame("O", JSON.stringify(offerOf(wanted, nonce))))
    })
    socket.once("data", (bytes) => {
      socket.pause()
      if (wanted.isFresh === true && bytes[4] !== ready) return fail("")
      forget()
      // The daemon runs nothing before it gets this.
      if (wanted.isFresh === true) socket.write(frame("G"))
      // More bytes may follow the five of the ready frame.
      resolve({ socket, rest: bytes.subarray(5) })
    })
  })

/**
 * Tests for words that are not UTF-8. Node has replaced their bytes, and the bundle refuses them.
 *
 * @param {ReadonlyArray<string>} words
 */
const isGarbled = (words) =>
  words.some((word) => word.includes("\ufffd")) &&
  attempt(() => require("node:buffer").isUtf8(fs.readFileSync("/proc/self/cmdline"))) === false

/**
 * Sends a request to the daemon. Resolves to the connection, to the reason why there is none, or to undefined if no daemon runs
 * and `starts` is false.
 *
 * @param {Wanted} wanted
 * @param {boolean} starts true to start a daemon if none runs
 * @param {(text: string) => void} tell
 * @returns {Promise<Connected | string | undefined>}
 */
const reach = async (wanted, starts, tell) => {
  if (env["SYNAPSE_SESSION"] !== undefined) return "a command of Synapse can't use the daemon: run it from outside"
  const key = keyOf()
  let started = { directory: "", reason: "" }
  for (let tries = 0; tries < 10; tries++) {
    // The places are found one by one, as each takes time.
    for (const place of started.directory === "" ? places() : [started.directory]) {
      const answer = await within(place, (base) => offer(base, key, wanted))
      if (answer !== undefined) return answer
    }
    if (!starts) return undefined
    started = await startOnce(key, tell)
    if (started.directory === "") break
  }
  return started.reason
}

/**
 * Runs the words in the daemon. Resolves to false if the bundle has to run or refuse them.
 *
 * @param {ReadonlyArray<string>} words
 * @param {boolean} starts true to start a daemon if none runs
 */
exports.run = async (words, starts) => {
  if (isGarbled(words)) return false
  const answer = await reach({ words }, starts, say)
  if (answer === undefined) return false
  if (typeof answer === "string") {
    say(answer)
    process.exit(env["SYNAPSE_SESSION"] === undefined ? 1 : 2)
  }
  converse(answer.socket, answer.rest)
  return true
}

/** Tests whether a stream may be a terminal, where the bundle shows more than the daemon can. */
const mayBeTerminal = (/** @type {number} */ fd) => {
  const stream = attempt(() => fs.fstatSync(fd))
  return stream?.isCharacterDevice() === true && stream.rdev !== fs.statSync("/dev/null").rdev
}

/**
 * Runs the words in a shell that the daemon keeps ready. Resolves to false if there is none, before anything has run.
 *
 * @param {ReadonlyArray<string>} words
 */
exports.runFresh = async (words) => {
  const mode = env["SYNAPSE_DAEMON"]
  if (env["SYNAPSE_SESSION"] !== undefined || mayBeTerminal(1) || mayBeTerminal(2) || isGarbled(words)) return false
  const key = keyOf()
  const ask = (/** @type {string} */ directory) =>
    within(directory, (base) =>
      // Without a daemon, the module of sockets would only slow the start.
      fs.existsSync(`${base}/${key}`) ? offer(base, key, { words, isFresh: true }) : undefined
    )
  let answer
  for (const place of places()) {
    answer = await ask(place)
    if (answer !== undefined) break
  }
  if (answer === undefined && mode === "auto") answer = await ask((await start(key, say)).directory)
  if (answer === undefined || typeof answer === "string") return false
  converse(answer.socket, answer.rest)
  return true
}

// For `serve/SynapseClient.ts`, the client for programs that keep running.
Object.assign(exports, { frame, reach, read })
