/** What the host does meanwhile: editors replace files, programs make new ones. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Families, Scene } from "../support/escape/Attack.js"
import { has } from "../support/escape/Ground.js"
import { type Setup, type Shape, write } from "../support/escape/World.js"

/** As an editor does it. */
const replace = (path: string, text: string) => {
  Fs.writeFileSync(`${path}.next`, text)
  Fs.renameSync(`${path}.next`, path)
}

/** The masks are not looked at again within a few milliseconds: a limit that has a name. */
const moment = Effect.sleep(50)

/** The sandbox runs and hides the file; then the host does something; then it hides it still. */
const between = (title: string, change: (world: Shape) => void, command: (world: Shape) => string): Scene => ({
  title,
  test: (world) =>
    Effect.gen(function* () {
      yield* world.execute("state=kept")
      yield* Effect.sync(() => change(world))
      yield* moment
      const said = yield* world.attack(command(world))
      assert.notInclude(said.stdout, world.secret)
      assert.match(said.stderr, /Permission denied/)
      assert.strictEqual((yield* world.execute("echo $state")).stdout, "kept\n")
    })
})

/** What only a scan finds, which a command waits for where the last one is some time ago. */
const later = (
  title: string,
  before: (world: Shape, name: string) => string,
  change: (world: Shape, name: string) => void,
  path: (name: string) => string
): Scene => {
  let tries = 0
  return {
    title,
    test: (world) =>
      Effect.gen(function* () {
        const name = `later${++tries}`
        yield* world.attack(before(world, name))
        // The last walk must lie twenty times as far back as it took, which a busy machine makes long.
        yield* Effect.sleep(4000 * tries)
        yield* Effect.sync(() => change(world, name))
        const said = yield* world.attack(`cat ${path(name)}`)
        assert.notInclude(said.stdout, world.secret)
        assert.match(said.stderr, /Permission denied/)
      })
  }
}

/** What can't be helped: the present truth. */
const limit = (title: string, command: (world: Shape) => string, needs: ReadonlyArray<string> = []): Scene => ({
  title,
  needs,
  test: (world) =>
    Effect.gen(function* () {
      yield* world.attack("mv pkg pkg2; mv pkg2 pkg")
      assert.include((yield* world.attack(command(world))).stdout, world.secret)
    })
})

const during = (title: string, change: (world: Shape) => void, path: string): Scene => ({
  title,
  test: (world) =>
    Effect.gen(function* () {
      const { attack, project } = world
      const waiting = yield* Effect.fork(
        attack(
          `touch ready; until [ -e go ]; do sleep 0.01; done
           for i in {1..300}; do cat ${path} >/dev/null 2>&1 || { echo MASKED; break; }; sleep 0.01; done`
        )
      )
      yield* Effect.repeat(Effect.sleep(10), { until: () => Fs.existsSync(`${project}/ready`) })
      yield* Effect.sync(() => {
        change(world)
        Fs.writeFileSync(`${project}/go`, "")
      })
      assert.strictEqual((yield* waiting).stdout, "MASKED\nRAN\n")
    })
})

/** `s` is a program of its own. */
const setUserId: ReadonlyArray<readonly [tool: string, script: string]> = [
  ["chmod", "chmod 4755 s; chmod u+s s; chmod 6755 s; cp s t; chmod 7777 t"],
  ["install", "install -m 4755 /bin/true t"],
  [
    "perl",
    `perl -e 'chmod(04755, "s") or print STDERR "$!\\n"; open(F, "<", "s"); chmod(04755, *F) or print STDERR "$!\\n"'`
  ],
  [
    "python3",
    `python3 - <<'PY'
import os, sys
def t(f, *a, **k):
    try: f(*a, **k)
    except OSError as e: print(e.strerror.lower(), file=sys.stderr)
t(os.chmod, "s", 0o4755)
t(os.fchmod, os.open("s", os.O_RDONLY), 0o4755)
t(os.open, "o", os.O_CREAT | os.O_WRONLY, 0o4755)
t(os.mknod, "n", 0o104755)
t(os.chmod, "s", 0o4755, dir_fd=os.open(".", os.O_RDONLY))
PY`
  ],
  ["tar", "cp s u; tar cf t.tar --mode=4755 u && tar xpf t.tar"],
  ["busybox", "busybox chmod 4755 s"]
]

/** By each of these routes, root would leave a program that runs with the rights of root's group. */
const setGroupId: ReadonlyArray<readonly [tool: string, script: string]> = [
  ...setUserId.map(
    ([tool, script]) =>
      [
        tool,
        script
          .replaceAll(/4755|6755|7777/g, "2755")
          .replaceAll("u+s", "g+s")
          .replaceAll("test -u", "test -g")
      ] as const
  ),
  ["mkdir", "mkdir -m 2775 d; mkdir e; chmod g+s e; chmod 2000 e"],
  ["cp", `cp -p "$(find /usr/bin /usr/sbin /bin -perm -2000 -type f 2>/dev/null | head -n 1)" t; chmod 2755 s`],
  ["setpriv", "setpriv --regid 0 --clear-groups chmod 2755 s; umask 0; chmod a+rwxs s"]
]

/** In a directory of its own, `s` is made by a script to what it may not be. */
const settingId = (title: string, tool: string, script: string, whose: "u" | "g"): Scene => ({
  title,
  needs: [tool],
  test: ({ attack, project }) =>
    Effect.gen(function* () {
      const name = `${whose}-${tool}`
      const { stderr } = yield* attack(
        `mkdir ${name}; cd ${name}; cp /bin/true s; chmod 755 s; ${script}\ntest -${whose} s && echo BREACH`
      )
      assert.match(stderr, /not permitted/)
      for (const each of Fs.readdirSync(`${project}/${name}`)) {
        assert.strictEqual(Fs.statSync(`${project}/${name}/${each}`).mode & (whose === "u" ? 0o4000 : 0o2000), 0, each)
      }
    })
})

/** Each has a file of its own: one that was masked again is masked by another hand. */
export const ofHost: Setup = {
  prepare: ({ project, secret }) => {
    for (const path of ["credentials.json", ".netrc", "around/.env"]) write(`${project}/${path}`, secret)
  }
}

export const host = (): Families => ({
  "the host meanwhile": [
    between(
      "a masked file is replaced between commands",
      ({ project, secret }) => replace(`${project}/.env`, secret),
      () => "cat .env"
    ),
    between(
      "a masked file is removed and made anew",
      ({ project, secret }) => {
        Fs.rmSync(`${project}/credentials.json`)
        Fs.writeFileSync(`${project}/credentials.json`, secret)
      },
      () => "cat credentials.json"
    ),
    between(
      "a masked directory is replaced",
      ({ home }) => {
        Fs.renameSync(`${home}/.ssh`, `${home}/gone`)
        Fs.cpSync(`${home}/gone`, `${home}/.ssh`, { recursive: true })
        Fs.rmSync(`${home}/gone`, { recursive: true })
      },
      ({ home }) => `cat ${home}/.ssh/id_rsa`
    ),
    between(
      "a directory around a masked file is replaced",
      ({ project, secret }) => {
        Fs.rmSync(`${project}/around`, { recursive: true })
        write(`${project}/around/.env`, secret)
      },
      () => "cat around/.env"
    ),
    between(
      "a path of a literal rule appears between commands",
      ({ home, secret }) => write(`${home}/.gnupg/key`, secret),
      ({ home }) => `cat ${home}/.gnupg/key`
    ),
    between(
      "a glob's file appears in the current directory between commands",
      ({ project, secret }) => write(`${project}/.env.local`, secret),
      () => "cat .env.local"
    ),
    during(
      "a masked file that is replaced while a command runs is masked again before long",
      ({ project, secret }) => replace(`${project}/.netrc`, secret),
      ".netrc"
    ),
    later(
      "a glob's file appears deeper down between commands",
      () => "mv pkg pkg2; mv pkg2 pkg",
      ({ project, secret }, name) => write(`${project}/new/${name}/.env`, secret),
      (name) => `new/${name}/.env`
    ),
    later(
      "the host replaces a masked file whose directory was renamed inside",
      ({ project, secret }, name) => {
        write(`${project}/${name}/.env`, secret)
        return `cat ${name}/.env; mv ${name} p2; mv p2 ${name}`
      },
      ({ project, secret }, name) => {
        Fs.renameSync(`${project}/${name}`, `${project}/p${name}`)
        replace(`${project}/p${name}/.env`, secret)
      },
      (name) => `p${name}/.env`
    )
  ],
  "programs of other users' rights": [
    {
      title: "the system's passwords, and the copies of them, are read by nobody's commands",
      test: ({ attack }) =>
        Effect.gen(function* () {
          const said = yield* attack(
            "for f in shadow shadow- gshadow gshadow-; do test -r /etc/$f && echo READABLE; done; true"
          )
          assert.notInclude(said.stdout, "READABLE")
        })
    },
    ...setUserId.map(([tool, script]) =>
      settingId(`a command can't make a file of its own set-uid: ${tool}`, tool, script, "u")
    ),
    ...setGroupId.map(([tool, script]) => ({
      ...settingId(`root's command can't make a file of its own set-gid: ${tool}`, tool, script, "g"),
      not: process.getuid?.() === 0 ? undefined : "ordinary users' groups are their own"
    }))
  ]
})

export const ofLimits: Setup = {
  prepare: ({ home, outside, project, secret }) => {
    ChildProcess.execFileSync("mkfifo", [`${outside}/fifo`])
    write(`${outside}/.env`, secret)
    Fs.linkSync(`${home}/.ssh/id_rsa`, `${outside}/link`)
    Fs.writeFileSync(`${outside}/letter`, "READABLE", { mode: 0o600 })
    Fs.linkSync(`${outside}/file`, `${project}/second`)
    Fs.mkdirSync(`${project}/shared`)
    Fs.chmodSync(`${project}/shared`, 0o2775)
    if (!has("git")) return
    const git = (...args: ReadonlyArray<string>) =>
      ChildProcess.execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: project })
    git("init", "-q")
    git("add", ".env")
    git("commit", "-qm", "oops")
  }
}

/** What can't be helped. */
export const limits: Families = {
  LIMIT: [
    {
      title: "a FIFO in a place that is only read takes what commands write",
      test: ({ attack, outside }) =>
        Effect.gen(function* () {
          const fd = Fs.openSync(`${outside}/fifo`, Fs.constants.O_RDONLY | Fs.constants.O_NONBLOCK)
          yield* attack(`echo through >${outside}/fifo`)
          const bytes = Buffer.alloc(16)
          assert.strictEqual(bytes.toString("utf8", 0, Fs.readSync(fd, bytes)), "through\n")
          Fs.closeSync(fd)
        })
    },
    limit("what a glob names outside of the whitelist is seen", ({ outside }) => `cat ${outside}/.env`),
    limit("a hard link outside of the whitelist to what is masked is seen", ({ outside }) => `cat ${outside}/link`),
    limit("a copy in git's history is seen", () => "git show HEAD:.env", ["git"]),
    {
      title: "what a command puts into the project may be run by its user later",
      test: ({ attack, project }) =>
        Effect.gen(function* () {
          yield* attack("printf 'all:\\n\\ttrue\\n' > Makefile")
          assert.isTrue(Fs.existsSync(`${project}/Makefile`))
        })
    },
    {
      title: "commands read the files of their user that no rule names",
      test: ({ attack, outside }) =>
        Effect.gen(function* () {
          assert.include((yield* attack(`cat ${outside}/letter`)).stdout, "READABLE")
        })
    },
    {
      title: "a directory made in a set-gid one is set-gid too, by the kernel",
      test: ({ attack, project }) =>
        Effect.gen(function* () {
          yield* attack("mkdir shared/d; touch shared/f; install -m 755 /bin/true shared/t")
          const isSetGroup = (name: string) => (Fs.statSync(`${project}/shared/${name}`).mode & 0o2000) !== 0
          assert.deepStrictEqual(["d", "f", "t"].map(isSetGroup), [true, false, false])
        })
    },
    {
      title: "the file that servers are started by can be made where there is none (and is not trusted: see servers)",
      test: ({ attack, project }) =>
        Effect.gen(function* () {
          yield* attack("echo '{}' > mcp_servers.json")
          assert.isTrue(Fs.existsSync(`${project}/mcp_servers.json`))
        })
    },
    {
      title: "a file of the project that has another name outside is written under both",
      test: ({ attack, outside }) =>
        Effect.gen(function* () {
          yield* attack("echo changed > second")
          assert.strictEqual(Fs.readFileSync(`${outside}/file`, "utf8"), "changed\n")
        })
    }
  ]
}
