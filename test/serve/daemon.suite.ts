/** `synapse exec --session` as it is installed: each call is a program of its own. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Temporary from "../support/Temporary.js"

const synapse = Path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Options {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Buffer
}

export class Place {
  constructor(
    readonly home: string,
    readonly project: string,
    /** The session of `exec`. */
    readonly session = "s"
  ) {}

  start(args: ReadonlyArray<string>, options?: Options) {
    return this.spawn(process.execPath, [synapse, ...args], options)
  }

  /** Runs a script whose function `synapse` is the program. */
  bash(script: string, options?: Options) {
    const program = `synapse() { '${process.execPath}' '${synapse}' "$@"; }\n`
    return this.spawn("bash", ["-c", program + script], options).ended
  }

  node(program: string) {
    return this.spawn(process.execPath, ["-e", program]).ended
  }

  /** Runs an ES module. */
  module(program: string) {
    return this.startModule(program).ended
  }

  startModule(program: string) {
    return this.spawn(process.execPath, ["--input-type=module", "-e", program])
  }

  private spawn(program: string, args: ReadonlyArray<string>, { cwd = this.project, env = {}, input }: Options = {}) {
    const child = ChildProcess.spawn(program, args, {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", HOME: this.home, SYNAPSE_TEMPORARY: "host", ...env },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"]
    })
    const said = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        said[name] += text
      })
    child.stdin?.on("error", () => {}).end(input)
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on("error", reject).on("close", (code) => resolve({ code, ...said }))
    })
    return { child, ended }
  }

  run(args: ReadonlyArray<string>, options?: Options) {
    return this.start(args, options).ended
  }

  /** Runs a command in the place's session, with options before it. */
  exec(command: string, ...options: ReadonlyArray<string>) {
    return this.run(["exec", "--session", this.session, ...options, command])
  }

  /** Runs a command without a session; a daemon is started for it. */
  auto(command: string, options: Options = {}) {
    return this.run(["exec", command], { ...options, env: { SYNAPSE_DAEMON: "auto", ...options.env } })
  }

  /** Runs a command, and returns whether a daemon ran it. */
  async isWarm(options: Options = {}, words: ReadonlyArray<string> = ["exec"]): Promise<boolean> {
    const time = seconds()
    const env = { SYNAPSE_DAEMON: "auto", ...options.env }
    const { child, ended } = this.start([...words, `sleep ${time}`], { ...options, env })
    await until(() => sleeping(time).length === 1)
    const isOfDaemon = this.isOfDaemon(`${sleeping(time)[0]}`)
    child.kill("SIGTERM")
    assert.strictEqual((await ended).code, 143)
    await until(() => sleeping(time).length === 0)
    return isOfDaemon
  }

  /** Runs a command until the shell for the next one like it has started: a busy daemon is not waited for. */
  async warm(run: () => Promise<unknown> = () => this.auto("true")) {
    do await run()
    while (!(await this.isReady(10_000)))
  }

  /** Returns whether a shell is ready, or is within that time. */
  async isReady(milliseconds?: number): Promise<boolean> {
    const isReady = (pid: string) => read(pid, "cmdline").endsWith("\0--noediting\0-i\0") && this.isOfDaemon(pid)
    await until(() => processes(isReady).length > 0, milliseconds)
    return processes(isReady).length > 0
  }

  private isOfDaemon(pid: string): boolean {
    const daemons = this.daemons()
    let at = Number(pid)
    while (at > 1 && !daemons.includes(at)) at = Number(/^PPid:\t(\d+)$/m.exec(read(`${at}`, "status"))?.[1] ?? 0)
    return at > 1
  }

  /** The daemons of this home. */
  daemons(): ReadonlyArray<number> {
    return processes((pid) => read(pid, "cmdline").includes("\0--daemon\0") && read(pid, "environ").includes(this.home))
  }

  /** What sessions and daemons have left in their directory, or in one below it. */
  files(below = ""): ReadonlyArray<string> {
    const directory = Path.join(this.home, ".synapse/run", below)
    return Fs.existsSync(directory) ? Fs.readdirSync(directory) : []
  }
}

const read = (pid: string, file: string): string => {
  try {
    return Fs.readFileSync(`/proc/${pid}/${file}`, "latin1")
  } catch {
    return ""
  }
}

const processes = (test: (pid: string) => boolean): ReadonlyArray<number> =>
  Fs.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && test(name))
    .map(Number)

/** A number of seconds that tells a command from those of other runs. */
export const seconds = () => `${1000 + Math.floor(Math.random() * 1e9)}`
export const sleeping = (time: string) => processes((pid) => read(pid, "cmdline") === `sleep\0${time}\0`)

export const until = async (isSo: () => boolean, milliseconds = Number.POSITIVE_INFINITY) => {
  const end = performance.now() + milliseconds
  for (let began = performance.now(); !isSo() && began < end; began = performance.now()) {
    // A look at all processes takes long where there are many: it shall take a twentieth of the time at most.
    const pause = Math.max(20, 20 * (performance.now() - began))
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** A home whose path is longer than that of a socket can be. */
const make = (directory: string) => {
  const place = new Place(Path.join(directory, "h".repeat(120)), Path.join(directory, "project"))
  for (const path of [place.home, place.project]) Fs.mkdirSync(path)
  return place
}

const stop = async (place: Place) => {
  await place.run(["daemon", "stop"])
  await until(() => place.daemons().length === 0)
}

/** A home with a daemon of its own, for what asks how daemons start and end. */
export const using = (use: (place: Place) => Promise<void>) =>
  Temporary.using(async (directory) => {
    const place = make(directory)
    try {
      await use(place)
    } finally {
      await stop(place)
    }
  })

/** One home, and with it one daemon, for several tests: each has a session of its own, and a project if none is given. */
export const shared = (project?: string) => {
  let directory = ""
  let all: Place | undefined
  let tests = 0
  beforeAll(() => {
    directory = Fs.mkdtempSync(Path.join(Fs.realpathSync(Os.tmpdir()), "synapse-test-"))
    all = make(directory)
  })
  afterAll(async () => {
    if (all !== undefined) await stop(all)
    Fs.rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })
  return (use: (place: Place) => Promise<void>) => {
    const name = `s${tests++}`
    const place = new Place(all?.home ?? "", Path.join(directory, project ?? name), name)
    Fs.mkdirSync(place.project, { recursive: true })
    return use(place)
  }
}

export const daemon = (title: string, isSecond = false): void => {
  const once = it.skipIf(isSecond)
  describe(title, { timeout: 180_000 }, () => {
    const sharing = shared()

    once("says which jobs go on in the session, and how they ended", () =>
      sharing(async (place) => {
        const begun = await place.exec("until [ -e go ]; do sleep 0.1; done & :")
        assert.match(begun.stderr, /^synapse: job 1 ".*" is running: job:output 1, job:wait 1, job:stop 1\n$/m)
        let told = (await place.exec("touch go")).stderr
        while (told === "") told = (await place.exec(":")).stderr
        assert.match(told, /^synapse: job 1 ".*" exited 0\n$/)
      })
    )

    once("names once what ends the session where only a new one has what was allowed", () =>
      sharing(async (place) => {
        await place.exec("true")
        const hidden = `${place.home}/.ssh`
        Fs.mkdirSync(hidden, { recursive: true })
        await place.run(["sandbox", "allow", hidden, "--write"])
        const told = [await place.exec("true"), await place.exec("true")].map(({ stderr }) => stderr)
        const anew = `synapse: ${hidden} is allowed by now, for a new shell: synapse daemon stop ${place.session}.\n`
        assert.deepStrictEqual(told, [anew, ""])
      })
    )

    it("keeps the state of the shell from one program to the next, and leaves nothing behind", () =>
      using(async (place) => {
        const first = await place.exec("x=5; mkdir sub; cd sub; f() { echo f $x; }; echo out; echo err >&2")
        assert.strictEqual(first.stdout, "out\n")
        assert.match(first.stderr, /^synapse: started the daemon.*\nerr\n$/)
        assert.deepStrictEqual(await place.exec("f; pwd; exit 7"), {
          code: 7,
          stdout: `f 5\n${Fs.realpathSync(place.project)}/sub\n`,
          stderr: ""
        })
        const other = await place.run(["exec", "--session=other", "echo [$x]"])
        assert.strictEqual(other.stdout, "[]\n")
        assert.include((await place.run(["exec", "--session", "s", "--json", "false"])).stdout, '"exitCode":1')
        const listed = JSON.parse((await place.run(["daemon", "list", "--json"])).stdout)
        assert.deepStrictEqual(
          listed.map(({ name, running }: Record<string, unknown>) => [name, running]),
          [
            ["s", 0],
            ["other", 0]
          ]
        )
        assert.strictEqual((await place.run(["daemon", "stop", "other"])).code, 0)
        const missing = await place.run(["daemon", "stop", "other"])
        assert.deepStrictEqual(
          [missing.code, missing.stderr],
          [1, "synapse: There is no session other: synapse daemon list shows them.\n"]
        )
        assert.strictEqual((await place.run(["daemon", "stop"])).code, 0)
        await until(() => place.daemons().length === 0 && place.files().length === 0)
        assert.strictEqual((await place.run(["daemon", "list", "--json"])).stdout, "[]\n")
      }))

    once("passes on bytes of any number, both ways", () =>
      sharing(async (place) => {
        const input = Buffer.alloc(3_000_001, "0123456789\n")
        const { stdout } = await place.run(["exec", "--session", place.session, "cat"], { input })
        assert.isTrue(Buffer.from(stdout).equals(input))
        Fs.writeFileSync(Path.join(place.project, "file"), input)
        const { stdout: said } = await place.bash(
          `synapse exec --session ${place.session} "wc -c" <file
          yes | synapse exec --session ${place.session} "head -n 1"
          synapse exec --session ${place.session} "yes" | head -n 1; echo "\${PIPESTATUS[0]}"`
        )
        assert.strictEqual(said, "3000001\ny\ny\n141\n")
      })
    )

    once("runs each command once and in one daemon, for several programs at a time", () =>
      using(async (place) => {
        const all = await Promise.all(
          Array.from({ length: 6 }, (_, at) => place.exec(`echo ${at} >> all; n=$((n + 1)); echo ${at}; exit 0`))
        )
        assert.deepStrictEqual(
          all.map(({ code, stdout }) => [code, stdout]),
          all.map((_, at) => [0, `${at}\n`])
        )
        assert.strictEqual(all.filter(({ stderr }) => stderr.includes("started")).length, 1)
        const lines = Fs.readFileSync(Path.join(place.project, "all"), "utf8").trim().split("\n")
        assert.deepStrictEqual(
          lines.map(Number).toSorted((a, b) => a - b),
          Array.from(all.keys())
        )
        assert.lengthOf(place.daemons(), 1)
      })
    )

    once("ends the command of a client that is killed or stopped, and keeps the session", () =>
      sharing(async (place) => {
        await place.exec("x=kept")
        for (const [signal, code] of [
          ["SIGKILL", null],
          ["SIGTERM", 143],
          ["SIGINT", 130]
        ] as const) {
          const time = seconds()
          const { child, ended } = place.start(["exec", "--session", place.session, `sleep ${time} & sleep ${time}`])
          await until(() => sleeping(time).length === 2)
          child.kill(signal)
          assert.strictEqual((await ended).code, code)
          await until(() => sleeping(time).length === 0)
        }
        assert.strictEqual((await place.exec("echo $x")).stdout, "kept\n")
      })
    )

    once("tells a client whose daemon is killed, runs nothing twice, and starts another for the next", () =>
      using(async (place) => {
        const time = seconds()
        const { ended } = place.start(["exec", "--session", "s", `echo ran >> ran; sleep ${time}`])
        await until(() => sleeping(time).length === 1)
        for (const pid of place.daemons()) process.kill(pid, "SIGKILL")
        const { code, stderr } = await ended
        assert.deepStrictEqual(
          [code, stderr.split("\n").at(-2)],
          [1, "synapse: the daemon ended while the command ran, and ended it: its session is gone"]
        )
        await until(() => sleeping(time).length === 0)
        const next = await place.exec("cat ran")
        assert.strictEqual(next.stdout, "ran\n")
        assert.include(next.stderr, "started")
      })
    )

    once("ends what runs in a session that is stopped", () =>
      sharing(async (place) => {
        const time = seconds()
        const { ended } = place.start(["exec", "--session", place.session, `sleep ${time}`])
        await until(() => sleeping(time).length === 1)
        assert.strictEqual((await place.run(["daemon", "stop", place.session])).code, 0)
        assert.strictEqual((await ended).code, 130)
        assert.lengthOf(sleeping(time), 0)
      })
    )

    once(
      "gives a session the variables, the umask and the directory of the program that opens it, and its filter",
      () =>
        using(async (place) => {
          Fs.writeFileSync(Path.join(place.project, ".env"), "TOKEN=1\n")
          await place.run(["exec", "--session", "first", "true"], { env: { OF_FIRST: "yes", LANG: "C" } })
          const [pid] = place.daemons()
          assert.strictEqual(Fs.readlinkSync(`/proc/${pid}/cwd`), "/")
          assert.notInclude(read(`${pid}`, "environ"), "OF_FIRST")
          const above = Path.dirname(place.project)
          const { stdout } = await place.bash(
            "umask 077; synapse exec --session s 'umask; echo [$LANG] [$OF_FIRST] [$API_TOKEN]; pwd'",
            { cwd: above, env: { LANG: "C.UTF-8", API_TOKEN: "secret" } }
          )
          assert.strictEqual(stdout, `0077\n[C.UTF-8] [] []\n${Fs.realpathSync(above)}\n`)
          const denied = await place.run(["exec", "--session", "first", "cat .env"])
          assert.deepStrictEqual([denied.code, denied.stdout], [126, ""])
          assert.include(denied.stderr, "sandbox: ")
        })
    )

    once("takes the options of a session from the call that opens it, and refuses others", () =>
      sharing(async (place) => {
        Fs.mkdirSync(Path.join(place.project, "sub"))
        Fs.writeFileSync(Path.join(place.project, "hidden"), "")
        const options = ["--cwd", "sub", "--deny", Path.join(place.project, "hidden")]
        assert.match((await place.exec("pwd", ...options)).stdout, /\/sub\n$/)
        assert.strictEqual((await place.exec("cat ../hidden", ...options)).code, 126)
        assert.strictEqual((await place.exec("cat ../hidden")).code, 126)
        const other = await place.exec("echo ran", "--deny", "/etc/hosts")
        assert.deepStrictEqual([other.code, other.stdout], [2, ""])
        assert.match(
          other.stderr,
          /^synapse: The session (s\d+) was opened with other options: .* synapse daemon stop \1\./
        )
        assert.strictEqual((await place.exec("sleep 100", "--timeout", "100")).code, 124)
      })
    )

    it("cannot be reached by a command in a sandbox, whatever sockets it may use", () =>
      sharing(async (place) => {
        await place.run(["exec", "--session", "other", "true"])
        const [name = ""] = place.files("daemon")
        assert.match(name, /^[0-9a-f]{16}$/)
        const path = Path.join(place.home, ".synapse/run/daemon", name)
        const connect = `process.chdir(${JSON.stringify(Path.dirname(path))}); require('net').connect(${JSON.stringify(`./${Path.basename(path)}`)}).on('connect', () => console.log('in'))`
        const tried = await place.exec(`node -e "${connect.replaceAll('"', '\\"')}"`, "--unix-sockets", "all")
        assert.strictEqual(tried.stdout, "", tried.stderr)
        assert.include(tried.stderr, "ENOENT")
        const words = `env -u SYNAPSE_SESSION ${process.execPath} ${synapse} daemon list --json`
        const inside = await place.exec(words)
        assert.strictEqual(inside.stdout, "[]\n", inside.stderr)
        const nested = await place.exec(`${process.execPath} ${synapse} exec --session other true`)
        assert.deepStrictEqual(
          [nested.code, nested.stderr],
          [2, "synapse: a command of Synapse can't use the daemon: run it from outside\n"]
        )
      }))

    once("is used by its own build alone, and in a directory of this user's alone", () =>
      sharing(async (place) => {
        await place.exec("true")
        const { stderr, stdout } = await place.node(`
          const fs = require("node:fs")
          const directory = ${JSON.stringify(Path.join(place.home, ".synapse/run/daemon"))}
          const client = ${JSON.stringify(Path.join(Path.dirname(synapse), "client.cjs"))}
          const other = process.cwd() + "/client.cjs"
          fs.writeFileSync(other, fs.readFileSync(client, "utf8").replace(/main-[\\w-]+/, "main-other"))
          const reaches = async (file = client) => {
            const answer = await require(file).reach({ words: ["daemon", "list"] }, false, () => {})
            answer?.socket.destroy()
            return answer !== undefined
          }
          const run = async () => {
            const seen = [await reaches(), await reaches(other)]
            fs.chmodSync(directory, 0o710)
            seen.push(await reaches())
            fs.chmodSync(directory, 0o700)
            fs.renameSync(directory, directory + ".aside")
            fs.symlinkSync(directory + ".aside", directory)
            seen.push(await reaches())
            fs.rmSync(directory)
            fs.renameSync(directory + ".aside", directory)
            const isRoot = process.getuid() === 0
            if (isRoot) fs.chownSync(directory, 65534, 65534)
            seen.push(isRoot && (await reaches()))
            if (isRoot) fs.chownSync(directory, 0, 0)
            console.log([...seen, await reaches()].join())
          }
          run()`)
        assert.strictEqual(stdout, "true,false,false,false,false,true\n", stderr)
      })
    )

    once("is not started in a shell of ours, for a command's own words, nor for help", () =>
      using(async (place) => {
        const inside = await place.auto("true", { env: { SYNAPSE_SESSION: "x" } })
        const after = await place.run(["exec", "--no-sandbox", "--", "--session=x"])
        const help = await place.auto("--help")
        for (const { stderr } of [inside, after, help]) assert.notInclude(stderr, "started the daemon")
      })
    )

    once("ends by itself when its sessions have been idle", () =>
      using(async (place) => {
        const { code } = await place.run(["exec", "--session", "s", "true"], { env: { SYNAPSE_DAEMON_IDLE: "200" } })
        assert.strictEqual(code, 0)
        await until(() => place.daemons().length === 0 && place.files().length === 0)
      })
    )

    it.runIf(process.getuid?.() === 0)("lets no other user connect, list or read", () =>
      sharing(async (place) => {
        await place.exec("true")
        for (let at = place.home; at !== "/tmp" && at !== "/"; at = Path.dirname(at)) {
          const { mode, uid } = Fs.statSync(at)
          if (uid === 0) Fs.chmodSync(at, (mode & 0o7777) | 0o755)
        }
        const socket = place.files("daemon")[0] ?? ""
        const directory = Path.join(place.home, ".synapse/run/daemon")
        assert.deepStrictEqual(
          [directory, Path.join(directory, socket)].map((path) => Fs.statSync(path).mode & 0o777),
          [0o700, 0o700]
        )
        const script = `
          const fs = require("node:fs")
          const codes = [() => fs.readdirSync("."), () => fs.readFileSync(${JSON.stringify(socket)})].map((run) => {
            try { run(); return "done" } catch ({ code }) { return code }
          })
          require("node:net").connect("./${socket}")
            .on("connect", () => console.log("in"))
            .on("error", ({ code }) => console.log([...codes, code].join()))`
        const { stderr, stdout } = await place.node(
          `process.chdir(${JSON.stringify(directory)}); process.setgroups([]); process.setgid(65534); process.setuid(65534)
          ${script}`
        )
        assert.strictEqual(stdout, "EACCES,EACCES,EACCES\n", stderr)
      })
    )

    describe("without a session", () => {
      const sharing = shared("project")

      once("runs a command in a shell that is ready, which is as a new one", () =>
        sharing(async (place) => {
          const command = `echo $SECONDS >seconds; echo $? $- $SHLVL $BASH_SUBSHELL $LINENO; umask; pwd; ulimit -Sa | grep -v real-time
          env | grep -v ^SYNAPSE_SESSION= | sort; shopt; trap; declare -F; jobs; cat; exit 3`
          const run = async (mode: string) => {
            const { stdout, ...rest } = await place.auto(command, { env: { SYNAPSE_DAEMON: mode }, input: "a\nb\0c" })
            return { ...rest, stdout: stdout.replaceAll(/session-[\w.]+-\w+/g, "session") }
          }
          const earlier = place.daemons()
          const alone = await run("0")
          assert.strictEqual(alone.code, 3)
          assert.deepStrictEqual(place.daemons(), earlier)
          do await place.warm()
          while (!(await place.isWarm()))
          const daemons = place.daemons()
          await place.isReady()
          assert.strictEqual((await place.auto("x=1; cd /; echo $x")).stdout, "1\n")
          await place.isReady()
          await new Promise((resolve) => setTimeout(resolve, 3000))
          const before = Date.now()
          assert.deepStrictEqual(await run("auto"), alone)
          const seconds = Number(Fs.readFileSync(Path.join(place.project, "seconds"), "utf8"))
          assert.isAtMost(seconds, Math.ceil((Date.now() - before) / 1000))
          // Where this one was busy, a second one finds it and ends.
          await until(() => place.daemons().join() === daemons.join())
        })
      )

      once("leaves nothing of a command that has ended, and of one whose program is killed", () =>
        sharing(async (place) => {
          await place.isReady()
          const time = seconds()
          await place.auto(`sleep ${time} & setsid sleep ${time} & (nohup sleep ${time} >/dev/null 2>&1 &)`)
          assert.lengthOf(sleeping(time), 0)
          await place.isReady()
          const { child, ended } = place.start(["exec", `sleep ${time} & sleep ${time}`], {
            env: { SYNAPSE_DAEMON: "auto" }
          })
          await until(() => sleeping(time).length === 2)
          child.kill("SIGKILL")
          await ended
          await until(() => sleeping(time).length === 0)
        })
      )

      once("finds what a user has made since a shell was ready", () =>
        sharing(async (place) => {
          await place.isReady()
          await new Promise((resolve) => setTimeout(resolve, 2000))
          const at = (...parts: ReadonlyArray<string>) => Path.join(place.project, ...parts)
          Fs.mkdirSync(at("new", "deep"), { recursive: true })
          Fs.writeFileSync(at("new", "deep", "id_rsa"), "secret\n")
          const key = await place.auto("cat new/deep/id_r*")
          assert.deepStrictEqual([key.code === 0, key.stdout], [false, ""])
          await place.isReady()
          Fs.mkdirSync(at(".vscode"))
          Fs.writeFileSync(at(".vscode", "tasks.json"), "{}\n")
          await place.auto("echo evil >.vscode/tasks.json; true")
          assert.strictEqual(Fs.readFileSync(at(".vscode", "tasks.json"), "utf8"), "{}\n")
        })
      )

      once("follows the policy as it is when the command comes", () =>
        sharing(async (place) => {
          const secret = Path.join(place.project, "plan")
          const file = Path.join(place.home, ".synapse/sandbox.json")
          Fs.writeFileSync(secret, "text\n")
          await place.isReady()
          Fs.writeFileSync(file, JSON.stringify({ policy: { filesystem: { blacklist: [secret] } } }))
          for (let times = 0; times < 2; times++) {
            const { code, stdout } = await place.auto("cat plan")
            assert.deepStrictEqual([code, stdout], [126, ""])
            await place.isReady()
          }
          Fs.rmSync(file)
          assert.strictEqual((await place.auto("cat plan")).stdout, "text\n")
        })
      )

      once("starts a shell of its own where anything differs, or no shell is ready", () =>
        sharing(async (place) => {
          await place.isReady()
          assert.isFalse(await place.isWarm({ env: { LANG: "C" } }), "a variable")
          assert.isFalse(await place.isWarm({}, ["exec", "--timeout", "60000"]), "an option")
          const exec = "SYNAPSE_DAEMON=auto synapse exec 'umask; ulimit -n'"
          await place.run(["daemon", "stop"])
          await until(() => place.daemons().length === 0)
          await place.warm(() => place.bash(exec))
          assert.strictEqual((await place.bash(`umask 027; ${exec}`)).stdout.split("\n")[0], "0027")
          assert.strictEqual((await place.bash(`ulimit -n 500; ${exec}`)).stdout, "0022\n500\n")
          const garbled = await place.bash(
            `SYNAPSE_DAEMON=auto synapse exec $'echo \\xff'; synapse exec --session s $'echo \\xff'`
          )
          assert.deepStrictEqual(
            [garbled.stdout, garbled.stderr.match(/is not UTF-8, and nothing was run/g)?.length],
            ["", 2]
          )
          for (const pid of place.daemons()) process.kill(pid, "SIGSTOP")
          assert.strictEqual((await place.auto("echo on >> ran; cat ran")).stdout, "on\n")
          for (const pid of place.daemons()) process.kill(pid, "SIGKILL")
        })
      )
    })
  })
}
