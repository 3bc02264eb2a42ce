/** What the host does meanwhile: editors replace files, programs make new ones. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Scene, scene, scenes } from "../support/escape/Attack.js"
import { type Setup, type Shape, write } from "../support/escape/World.js"

/** As an editor does it. */
const replace = (path: string, text: string) => {
  Fs.writeFileSync(`${path}.next`, text)
  Fs.renameSync(`${path}.next`, path)
}

/** The masks are not looked at again within a few milliseconds: a limit that has a name. */
const moment = Effect.sleep(50)

/** The sandbox runs and hides the file; then the host does something; then it hides it still. */
const between = (
  ground: string,
  title: string,
  change: (world: Shape) => void,
  command: (world: Shape) => string,
  setup: Setup = {}
) =>
  scene(ground, title, setup, (world) =>
    Effect.gen(function* () {
      yield* world.execute("state=kept")
      yield* Effect.sync(() => change(world))
      yield* moment
      const said = yield* world.attack(command(world))
      assert.notInclude(said.stdout, world.secret)
      assert.match(said.stderr, /Permission denied/)
      assert.strictEqual((yield* world.execute("echo $state")).stdout, "kept\n")
    })
  )

/** What only a scan finds, which a command waits for where the last one is some time ago. */
const later = (ground: string, title: string, change: (world: Shape) => void, path: string) =>
  scene(ground, title, {}, (world) =>
    Effect.gen(function* () {
      yield* world.attack("mv pkg pkg2; mv pkg2 pkg")
      yield* Effect.sleep(2000)
      yield* Effect.sync(() => change(world))
      const said = yield* world.attack(`cat ${path}`)
      assert.notInclude(said.stdout, world.secret)
      assert.match(said.stderr, /Permission denied/)
    })
  )

/** What can't be helped: the present truth. */
const limit = (ground: string, title: string, command: (world: Shape) => string, setup: Setup = {}) =>
  scene(ground, `LIMIT: ${title}`, setup, (world) =>
    Effect.gen(function* () {
      yield* world.attack("mv pkg pkg2; mv pkg2 pkg")
      assert.include((yield* world.attack(command(world))).stdout, world.secret)
    })
  )

const during = (ground: string, title: string, change: (world: Shape) => void, path: string) =>
  scene(ground, title, {}, (world) =>
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
  )

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

export const host = (ground: string): void => {
  describe("the host meanwhile", () => {
    between(
      ground,
      "a masked file is replaced between commands",
      ({ project, secret }) => replace(`${project}/.env`, secret),
      () => "cat .env"
    )
    between(
      ground,
      "a masked file is removed and made anew",
      ({ project, secret }) => {
        Fs.rmSync(`${project}/.env`)
        Fs.writeFileSync(`${project}/.env`, secret)
      },
      () => "cat .env"
    )
    between(
      ground,
      "a masked directory is replaced",
      ({ home }) => {
        Fs.renameSync(`${home}/.ssh`, `${home}/gone`)
        Fs.cpSync(`${home}/gone`, `${home}/.ssh`, { recursive: true })
        Fs.rmSync(`${home}/gone`, { recursive: true })
      },
      ({ home }) => `cat ${home}/.ssh/id_rsa`
    )
    between(
      ground,
      "a directory around a masked file is replaced",
      ({ project, secret }) => {
        Fs.rmSync(`${project}/pkg`, { recursive: true })
        write(`${project}/pkg/.env`, secret)
      },
      () => "cat pkg/.env"
    )
    between(
      ground,
      "a path of a literal rule appears between commands",
      ({ home, secret }) => write(`${home}/.gnupg/key`, secret),
      ({ home }) => `cat ${home}/.gnupg/key`
    )
    between(
      ground,
      "a glob's file appears in the current directory between commands",
      ({ project, secret }) => write(`${project}/.env.local`, secret),
      () => "cat .env.local"
    )
    during(
      ground,
      "a masked file that is replaced while a command runs is masked again before long",
      ({ project, secret }) => replace(`${project}/.env`, secret),
      ".env"
    )
    later(
      ground,
      "a glob's file appears deeper down between commands",
      ({ project, secret }) => write(`${project}/new/deep/.env`, secret),
      "new/deep/.env"
    )
    later(
      ground,
      "the host replaces a masked file whose directory was renamed inside",
      ({ project, secret }) => {
        Fs.renameSync(`${project}/pkg`, `${project}/p2`)
        replace(`${project}/p2/.env`, secret)
      },
      "p2/.env"
    )
    scene(
      ground,
      "LIMIT: a FIFO in a place that is only read takes what commands write",
      { prepare: ({ outside }) => void ChildProcess.execFileSync("mkfifo", [`${outside}/fifo`]) },
      ({ attack, outside }) =>
        Effect.gen(function* () {
          const fd = Fs.openSync(`${outside}/fifo`, Fs.constants.O_RDONLY | Fs.constants.O_NONBLOCK)
          yield* attack(`echo through >${outside}/fifo`)
          const bytes = Buffer.alloc(16)
          assert.strictEqual(bytes.toString("utf8", 0, Fs.readSync(fd, bytes)), "through\n")
          Fs.closeSync(fd)
          Fs.unlinkSync(`${outside}/fifo`)
        })
    )
    limit(ground, "what a glob names outside of the whitelist is seen", ({ outside }) => `cat ${outside}/.env`, {
      prepare: ({ outside, secret }) => write(`${outside}/.env`, secret)
    })
    limit(
      ground,
      "a hard link outside of the whitelist to what is masked is seen",
      ({ outside }) => `cat ${outside}/link`,
      {
        prepare: ({ home, outside }) => Fs.linkSync(`${home}/.ssh/id_rsa`, `${outside}/link`)
      }
    )
    limit(ground, "a copy in git's history is seen", () => "git show HEAD:.env", {
      needs: ["git"],
      prepare: ({ project }) => {
        const git = (...args: ReadonlyArray<string>) =>
          ChildProcess.execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: project })
        git("init", "-q")
        git("add", ".env")
        git("commit", "-qm", "oops")
      }
    })
    scene(
      ground,
      "LIMIT: what a command puts into the project may be run by its user later",
      {},
      ({ attack, project }) =>
        Effect.gen(function* () {
          yield* attack("printf 'all:\\n\\ttrue\\n' > Makefile")
          assert.isTrue(Fs.existsSync(`${project}/Makefile`))
        })
    )
    scene(ground, "LIMIT: commands read the files of their user that no rule names", {}, ({ attack, outside }) =>
      Effect.gen(function* () {
        Fs.writeFileSync(`${outside}/letter`, "READABLE", { mode: 0o600 })
        assert.include((yield* attack(`cat ${outside}/letter`)).stdout, "READABLE")
      })
    )
    scene(ground, "the system's passwords, and the copies of them, are read by nobody's commands", {}, ({ attack }) =>
      Effect.gen(function* () {
        const said = yield* attack(
          "for f in shadow shadow- gshadow gshadow-; do test -r /etc/$f && echo READABLE; done; true"
        )
        assert.notInclude(said.stdout, "READABLE")
      })
    )
    scenes(ground, [
      ...setUserId.map(([tool, script]) =>
        settingId(`a command can't make a file of its own set-uid: ${tool}`, tool, script, "u")
      ),
      ...setGroupId.map(([tool, script]) => ({
        ...settingId(`root's command can't make a file of its own set-gid: ${tool}`, tool, script, "g"),
        not: process.getuid?.() === 0 ? undefined : "ordinary users' groups are their own"
      }))
    ])
    scene(
      ground,
      "LIMIT: a directory made in a set-gid one is set-gid too, by the kernel",
      {
        prepare: ({ project }) => {
          Fs.mkdirSync(`${project}/shared`)
          Fs.chmodSync(`${project}/shared`, 0o2775)
        }
      },
      ({ attack, project }) =>
        Effect.gen(function* () {
          yield* attack("mkdir shared/d; touch shared/f; install -m 755 /bin/true shared/t")
          const isSetGroup = (name: string) => (Fs.statSync(`${project}/shared/${name}`).mode & 0o2000) !== 0
          assert.deepStrictEqual(["d", "f", "t"].map(isSetGroup), [true, false, false])
        })
    )
  })
}
