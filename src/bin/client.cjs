"use strict"
// What runs in place of the bundle where a session of the daemon is meant: it hands the words over, and passes on bytes. To load the
// bundle alone would take longer than this whole run; so would `process.stdin` and the other two.
const fs = require("node:fs")
const net = require("node:net")
const os = require("node:os")

const { env } = process

/** The variables that the daemon is started with: it takes all others from the client that opens a session. */
const kept = ["HOME", "SYNAPSE_HOME", "TMPDIR", "XDG_RUNTIME_DIR", "PATH", "SYNAPSE_DAEMON_IDLE"]

/** How long a daemon may take to answer, in milliseconds. */
const patience = 30_000

/** How long it may take to say that a shell is ready, which a program can do without, in milliseconds. */
const impatience = 300

/** The letter by which it says so. */
const ready = "R".charCodeAt(0)

/** The bytes of standard input that are read at once. */
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

/**
 * Names the daemon of a client: another build, another home and other namespaces have another.
 *
 * @param {string} build
 */
const keyOf = (build) => {
  const namespaces = ["mnt", "pid", "user"].map((name) => attempt(() => fs.readlinkSync(`/proc/self/ns/${name}`)))
  return digest([build, process.version, ...kept.slice(0, 4).map((name) => env[name]), ...namespaces])
}

/** @param {ReadonlyArray<string | undefined>} facts */
const digest = (facts) => {
  let [a, b] = [0x811c9dc5, 0x41c6ce57]
  for (const byte of Buffer.from(facts.join("\0"))) {
    a = Math.imul(a ^ byte, 0x01000193)
    b = Math.imul(b ^ byte, 0x5bd1e995)
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
}

/** Names what a process hands on to its children, and can't be handed over otherwise: limits, rights, priorities, namespaces. */
const factsOf = () => {
  const read = (/** @type {string} */ name) => attempt(() => fs.readFileSync(`/proc/self/${name}`, "latin1"))
  const status = read("status")?.match(
    /^(?:Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*|Cpus_allowed|Mems_allowed):.*/gm
  )
  // Behind the name, which may hold anything: priority, nice, and the scheduler's priority and policy.
  const stat = (read("stat") ?? "").replace(/^.*\) /s, "").split(" ")
  const scheduling = [15, 16, 37, 38].map((at) => stat[at])
  const files = ["limits", "cgroup", "oom_score_adj", "attr/current", "personality", "coredump_filter"].map(read)
  const namespaces = ["cgroup", "ipc", "net", "time", "time_for_children", "pid_for_children", "uts"]
  const targets = ["root", ...namespaces.map((name) => `ns/${name}`)].map((name) =>
    attempt(() => fs.readlinkSync(`/proc/self/${name}`))
  )
  return digest([...(status ?? []), ...scheduling, ...files, ...targets])
}

/** The directories where the daemon may listen, as `PrivateDirectory.places` orders them. */
const places = function* () {
  const home = attempt(() => os.homedir())
  if (home) yield `${home}/.synapse/run`
  const own = attempt(() => os.userInfo().homedir)
  if (own) yield `${own}/.synapse/run`
  if (env["XDG_RUNTIME_DIR"]) yield `${env["XDG_RUNTIME_DIR"]}/synapse`
  yield `/tmp/synapse-${process.getuid?.() ?? 0}`
}

/**
 * Opens the directory that a daemon listens in; undefined where it is not this user's alone.
 *
 * @param {string} path
 */
const openOwn = (path) =>
  attempt(() => {
    const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants
    const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    const { mode, uid } = fs.fstatSync(fd)
    if (uid === process.geteuid?.() && (mode & 0o077) === 0) {
      // The path of a socket can't be longer than 107 bytes.
      return process.platform === "linux" ? `/proc/self/fd/${fd}` : path
    }
    fs.closeSync(fd)
    return undefined
  })

/**
 * Starts a daemon, and returns the directory that it listens in, or an empty text.
 *
 * @param {string} key
 * @returns {Promise<string>}
 */
const start = (key) =>
  new Promise((resolve) => {
    const child = require("node:child_process").spawn(
      process.execPath,
      [`${__dirname}/synapse.cjs`, "--daemon", key, factsOf()],
      {
        cwd: "/",
        detached: true,
        env: Object.fromEntries(kept.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
        stdio: ["ignore", "pipe", "ignore"]
      }
    )
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (part) => {
      text += part
      if (!text.endsWith("\n")) return
      child.unref()
      child.stdout.destroy()
      const [, isOther, directory = ""] = /^(=?)(\/.*)\n$/s.exec(text) ?? []
      if (directory === "") attempt(() => fs.writeSync(2, text))
      else if (isOther === "") say("started the daemon, which keeps sessions (synapse daemon list, stop)")
      resolve(directory)
    })
    child.on("error", () => resolve("")).on("close", () => resolve(""))
  })

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

/** What a session takes from its client, and what runs in it. */
const offerOf = (
  /** @type {ReadonlyArray<string>} */ words,
  /** @type {string} */ nonce,
  /** @type {boolean} */ isFresh
) => {
  const input = attempt(() => fs.fstatSync(0))
  const isOther = input?.isCharacterDevice()
  return {
    words,
    nonce,
    isFresh,
    variables: { ...env },
    umask: process.umask(),
    directory: attempt(() => {
      const { dev, ino } = fs.statSync(".")
      return { path: process.cwd(), dev, ino }
    }),
    hasInput:
      input !== undefined &&
      (isOther ? input.rdev !== fs.statSync("/dev/null").rdev && !require("node:tty").isatty(0) : !input.isDirectory())
  }
}

/**
 * Passes bytes on between the daemon and the standard streams, until the command has ended.
 *
 * @param {net.Socket} socket
 * @param {Buffer} input what has come already
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
      const stdin = new net.Socket({ fd: 0, readable: true, writable: false })
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

  let isClosed = false
  let isWriting = false
  const step = () => {
    isWriting = false
    while (input.length >= 5 && input.length >= 5 + input.readUInt32LE()) {
      const end = 5 + input.readUInt32LE()
      const kind = String.fromCharCode(input[4] ?? 0)
      const body = input.subarray(5, end)
      input = input.subarray(end)
      if (kind === "1" || kind === "2") {
        isWriting = true
        return write(Number(kind), body, step)
      }
      if (kind === "X") process.exit(stoppedWith ?? body[0])
      credit += body.readUInt32LE()
      readOn ??= openInput()
      readOn()
    }
    if (isClosed) lose()
    else socket.resume()
  }
  socket.on("data", (chunk) => {
    input = input.length === 0 ? chunk : Buffer.concat([input, chunk])
    socket.pause()
    step()
  })
  socket.on("close", () => {
    isClosed = true
    if (!isWriting) lose()
  })
  const lose = () => {
    if (stoppedWith === undefined) say("the daemon ended while the command ran, and ended it: its session is gone")
    process.exit(stoppedWith ?? 1)
  }
  step()
}

/**
 * Hands the words to the daemon of a directory. Resolves to the connection once that runs them, to a text that says why it does not,
 * or to undefined where no daemon is there. Until then, nothing has run.
 *
 * @param {string} base
 * @param {string} name of the socket
 * @param {ReadonlyArray<string>} words
 * @param {boolean} isFresh true for a shell that is ready, which the daemon is not waited for
 * @returns {Promise<{ readonly socket: net.Socket, readonly rest: Buffer } | string | undefined>}
 */
const offer = (base, name, words, isFresh = false) =>
  new Promise((resolve) => {
    const nonce = `n.${process.pid}.${process.hrtime.bigint()}`
    const socket = net.connect(`${base}/${name}`)
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
      isFresh ? impatience : patience
    )
    socket.on("error", () => {}).on("close", () => fail(undefined))
    socket.once("connect", () => {
      // The daemon sees whose file it is.
      attempt(() => fs.closeSync(fs.openSync(`${base}/${nonce}`, "wx", 0o600)))
      socket.write(frame("O", JSON.stringify(offerOf(words, nonce, isFresh))))
    })
    socket.once("data", (bytes) => {
      socket.pause()
      if (isFresh && bytes[4] !== ready) return fail(undefined)
      forget()
      // Until it has this, nothing runs.
      if (isFresh) socket.write(frame("G"))
      // More may have come with the five bytes that say that it is ready.
      resolve({ socket, rest: bytes.subarray(5) })
    })
  })

/**
 * Tests whether node has put other characters into a word that is not UTF-8: the bundle refuses it.
 *
 * @param {ReadonlyArray<string>} words
 */
const isGarbled = (words) =>
  words.some((word) => word.includes("\ufffd")) &&
  attempt(() => require("node:buffer").isUtf8(fs.readFileSync("/proc/self/cmdline"))) === false

/**
 * Runs the words in the daemon. Resolves to false where none runs, and none is to be started, and where the bundle refuses them.
 *
 * @param {ReadonlyArray<string>} words
 * @param {string} build
 * @param {boolean} starts
 */
exports.run = async (words, build, starts) => {
  if (env["SYNAPSE_SESSION"] !== undefined) {
    say("a command of Synapse can't use the daemon: run it from outside")
    process.exit(2)
  }
  if (isGarbled(words)) return false
  const key = keyOf(build)
  let started = ""
  for (let tries = 0; tries < 10; tries++) {
    for (const directory of started === "" ? places() : [started]) {
      const base = openOwn(started === "" ? `${directory}/daemon` : directory)
      const answer = base === undefined ? undefined : await offer(base, key, words)
      if (typeof answer === "string") {
        say(answer)
        process.exit(1)
      }
      if (answer === undefined) continue
      converse(answer.socket, answer.rest)
      return true
    }
    if (!starts) return false
    started = await start(key)
    if (started === "") break
  }
  say("no daemon could be started")
  process.exit(1)
}

/** Tests whether a stream is a terminal: there, more is shown than a daemon can. */
const mayBeTerminal = (/** @type {number} */ fd) => {
  const stream = attempt(() => fs.fstatSync(fd))
  return stream?.isCharacterDevice() === true && stream.rdev !== fs.statSync("/dev/null").rdev
}

/**
 * Runs the words in a shell that the daemon has ready. Resolves to false where none is, and nothing has run.
 *
 * @param {ReadonlyArray<string>} words
 * @param {string} build
 */
exports.runFresh = async (words, build) => {
  const mode = env["SYNAPSE_DAEMON"]
  if (env["SYNAPSE_SESSION"] !== undefined || mayBeTerminal(1) || mayBeTerminal(2) || isGarbled(words)) return false
  const key = keyOf(build)
  const open = (/** @type {string} */ directory) => {
    const base = openOwn(directory)
    return base !== undefined && fs.existsSync(`${base}/${key}`) ? base : undefined
  }
  let base
  for (const directory of places()) base ??= open(`${directory}/daemon`)
  if (base === undefined && mode === "auto") base = open(await start(key))
  const answer = base === undefined ? undefined : await offer(base, `${key}-${factsOf()}`, words, true)
  if (answer === undefined || typeof answer === "string") return false
  converse(answer.socket, answer.rest)
  return true
}
